import { sha3_256 } from '@noble/hashes/sha3.js';
import { hex } from './hex';

const encoder = new TextEncoder();
let buffer = new Uint8Array(1 << 16);

/** SHA3-256 of the text's UTF-8 in lowercase hex. The buffer is kept: most of a chain's texts fit in it. */
export function sha3(text: string): string {
	if (text.length * 3 > buffer.length) buffer = new Uint8Array(text.length * 3);
	const { written } = encoder.encodeInto(text, buffer);
	return hex(sha3_256(buffer.subarray(0, written)));
}
