import { expect, test } from 'vitest';
import { pretty } from './formatJson';

test('lines and indents come in, and nothing else changes', () => {
	expect(pretty('{"a":1.0,"b":[],"c":{},"d":["x,{}\\"",{"e":12345678901234567890}]}')).toBe(
		`{
  "a": 1.0,
  "b": [],
  "c": {},
  "d": [
    "x,{}\\"",
    {
      "e": 12345678901234567890
    }
  ]
}`
	);
});

test('brackets within texts are texts', () => {
	expect(pretty('["[","]"]')).toBe('[\n  "[",\n  "]"\n]');
	expect(pretty('["{", {} ]')).toBe('[\n  "{",\n  {}\n]');
});
