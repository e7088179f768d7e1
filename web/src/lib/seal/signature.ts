import { Point } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { hex, unhex } from './hex';
import type { PublicKey } from './keys';

/** The order of the group. */
const ORDER = Point.CURVE().n;

/** How many signatures of one key make it worth while to prepare multiples of its point. */
const WORTH_A_TABLE = 32;
const WINDOW = 8n;
const WINDOWS = 32;

const encoder = new TextEncoder();
const tables = new WeakMap<PublicKey, { used: number; multiples: Point[][] | null }>();

/** Reads a signature: 128 lowercase digits. */
export function readSignature(text: string): Uint8Array | null {
	return unhex(text, 64);
}

/**
 * Whether the key signed the text, strictly: the point must have one encoding and not be of small order, the number
 * must be below the group's order, and the equation must hold without the cofactor. The library's own check clears
 * the cofactor and would take signatures that other verifiers refuse.
 */
export function holds(text: string, signature: Uint8Array, key: PublicKey): boolean {
	const point = signature.subarray(0, 32);
	const s = littleEndian(signature.subarray(32));
	if (!isPlainPoint(point) || s >= ORDER) return false;
	const k = littleEndian(sha512(concat(point, key.bytes, encoder.encode(text)))) % ORDER;
	const expected = Point.BASE.multiply(s, false).add(times(key, k).negate());
	return hex(expected.toBytes()) === hex(point);
}

/** Adding up prepared multiples takes a tenth of the steps. */
function times(key: PublicKey, scalar: bigint): Point {
	const table = tables.get(key) ?? { used: 0, multiples: null };
	tables.set(key, table);
	if (++table.used === WORTH_A_TABLE) table.multiples = prepare(key.point);
	if (!table.multiples) return key.point.multiply(scalar, false);
	let sum = Point.ZERO;
	for (const multiples of table.multiples) {
		const digit = Number(scalar & ((1n << WINDOW) - 1n));
		scalar >>= WINDOW;
		const multiple = multiples[digit - 1];
		if (multiple) sum = sum.add(multiple);
	}
	return sum;
}

function prepare(point: Point): Point[][] {
	const windows: Point[][] = [];
	for (let window = 0; window < WINDOWS; window++) {
		const multiples = [point];
		for (let last = point; multiples.length < (1 << Number(WINDOW)) - 1; )
			multiples.push((last = last.add(point)));
		windows.push(multiples);
		for (let step = 0n; step < WINDOW; step++) point = point.double();
	}
	return windows;
}

/** The y coordinates of the eight points of small order, two of which have one each and six share three. */
const SMALL_ORDER = new Set([
	'00'.repeat(32),
	'01' + '00'.repeat(31),
	'ec' + 'ff'.repeat(30) + '7f',
	'26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
	'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'
]);

/** Whether a signature's point has one encoding and is not of small order. */
function isPlainPoint(point: Uint8Array): boolean {
	const y = Uint8Array.from(point);
	y[31] = (y[31] ?? 0) & 0x7f;
	// The field's order is 2^255 - 19; its digits are ed ff .. ff 7f.
	const belowOrder = y[31] !== 0x7f || y.subarray(1, 31).some((byte) => byte !== 0xff) || (y[0] ?? 0) < 0xed;
	return belowOrder && !SMALL_ORDER.has(hex(y));
}

function littleEndian(bytes: Uint8Array): bigint {
	return BigInt('0x' + hex(Uint8Array.from(bytes).reverse()));
}

function concat(...parts: Uint8Array[]): Uint8Array {
	const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	let at = 0;
	for (const part of parts) {
		bytes.set(part, at);
		at += part.length;
	}
	return bytes;
}
