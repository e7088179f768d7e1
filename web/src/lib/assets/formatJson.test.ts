import { expect, test } from 'vitest';
import { formatJson } from './formatJson';

test('only line breaks and indents are added', () => {
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

test('brackets inside strings are kept', () => {
	expect(formatJson('["[","]"]')).toBe('[\n  "[",\n  "]"\n]');
	expect(formatJson('["{", {} ]')).toBe('[\n  "{",\n  {}\n]');
});
