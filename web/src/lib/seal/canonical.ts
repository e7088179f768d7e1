import { Float, Int, type Fields, type Json } from './json';

/** The canonical text: names in code-point order, no white space, nothing escaped that need not be. */
export function canonical(value: Json): string {
	return write(value, quote);
}

/** The canonical text with all but ASCII escaped, as the earliest records were sealed. */
export function canonicalAscii(value: Json): string {
	return write(value, (text) => quote(text).replace(/[\u007f-\uffff]/g, escape));
}

function write(value: Json, string: (text: string) => string): string {
	if (value === null || typeof value === 'boolean') return String(value);
	if (typeof value === 'string') return string(value);
	if (value instanceof Int) return value.digits;
	if (value instanceof Float) return floatText(value.value);
	if (Array.isArray(value)) return `[${value.map((item) => write(item, string)).join(',')}]`;
	const members = sorted(value).map(([name, item]) => `${string(name)}:${write(item, string)}`);
	return `{${members.join(',')}}`;
}

function sorted(fields: Fields): [string, Json][] {
	return [...fields].sort(([a], [b]) => byCodePoint(a, b));
}

/** The order of code points, which is not that of the halves of pairs. */
export function byCodePoint(a: string, b: string): number {
	const length = Math.min(a.length, b.length);
	for (let at = 0; at < length; at++) {
		const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
		if (one !== other) return rank(one) - rank(other);
	}
	return a.length - b.length;
}

/** Halves of pairs stand for code points above all others. */
function rank(unit: number): number {
	return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The platform's writer escapes the same characters in the same way. */
function quote(text: string): string {
	return JSON.stringify(text);
}

function escape(unit: string): string {
	return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A float as Python prints it: positional for exponents from -4 to 15, else scientific with two digits at least. */
export function floatText(number: number): string {
	if (!Number.isFinite(number)) return String(number);
	const sign = number < 0 || Object.is(number, -0) ? '-' : '';
	const [mantissa = '', power = '0'] = Math.abs(number).toExponential().split('e');
	const exponent = Number(power);
	if (exponent < -4 || exponent > 15) {
		const digits = String(Math.abs(exponent)).padStart(2, '0');
		return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
	}
	return sign + positional(mantissa.replace('.', ''), exponent);
}

/** Puts the point where the exponent says: after the first digit and as many more. */
function positional(digits: string, exponent: number): string {
	if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
	const whole = exponent + 1;
	return digits.length > whole
		? `${digits.slice(0, whole)}.${digits.slice(whole)}`
		: `${digits.padEnd(whole, '0')}.0`;
}
