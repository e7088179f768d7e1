import { describe, expect, it } from 'vitest';
import { RecordReader, Unreadable } from './records';

const bytes = (text: string) => new TextEncoder().encode(text);
const record = (at: number) =>
	JSON.stringify({
		hash: `h${at}`,
		signature: 's',
		signed_by: 'k',
		signed_at: null,
		canonical: `{"n":"ü🍐${at}\\""}`
	});
const chain = `\ufeff{"title": "a, b]}", "length": 3, "capsules": [ ${[0, 1, 2].map(record).join(' ,\n')} ], "x": [1]}\n`;

function inPieces(whole: Uint8Array, size: number): string[] {
	const reader = new RecordReader();
	const found: string[] = [];
	const take = () => {
		for (let stored = reader.next(); stored; stored = reader.next()) found.push(stored.canonical);
	};
	for (let at = 0; at < whole.length; at += size) {
		reader.feed(whole.subarray(at, at + size));
		take();
	}
	reader.finish();
	take();
	expect(reader.next()).toBeNull();
	return found;
}

function whole(file: Uint8Array): { next: () => string | undefined } {
	const reader = new RecordReader();
	reader.feed(file);
	reader.finish();
	return { next: () => reader.next()?.canonical };
}

describe('a chain file', () => {
	const expected = [0, 1, 2].map((at) => `{"n":"ü🍐${at}\\""}`);

	it.each([1, 2, 3, 7, 64, 1000])('is read in pieces of %d bytes', (size) => {
		expect(inPieces(bytes(chain), size)).toEqual(expected);
	});

	it('is read as a list, and as a record alone', () => {
		expect(inPieces(bytes(`[${record(0)},${record(1)}]`), 5)).toEqual(expected.slice(0, 2));
		expect(inPieces(bytes(record(2)), 5)).toEqual(expected.slice(2));
		expect(inPieces(bytes(' [ ] '), 1)).toEqual([]);
	});

	it('gives the records before the place where it cannot be read', () => {
		const cut = whole(bytes(chain.slice(0, chain.indexOf('h2'))));
		expect([cut.next(), cut.next()]).toEqual(expected.slice(0, 2));
		expect(() => cut.next()).toThrow(Unreadable);
		const noText = bytes(chain);
		noText[noText.lastIndexOf(0xf0)] = 0xff;
		const wrong = whole(noText);
		expect([wrong.next(), wrong.next()]).toEqual(expected.slice(0, 2));
		expect(() => wrong.next()).toThrow('UTF-8');
	});
});
