import { expect, test } from 'vitest';
import { formatJson } from './formatJson';

test('lines and indents come in, and nothing else changes', () => {
	expect(formatJson('{"a":1.0,"b":[],"c":{},"d":["x,{}\\"",{"e":12345678901234567890}]}')).toBe(
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
	expect(formatJson('["[","]"]')).toBe('[\n  "[",\n  "]"\n]');
	expect(formatJson('["{", {} ]')).toBe('[\n  "{",\n  {}\n]');
});
