import { describe, expect, it } from 'vitest';
import { RecordScanner, Unreadable } from './recordScanner';

const bytes = (text: string) => new TextEncoder().encode(text);
const toText = (record: { bytes: Uint8Array }) => new TextDecoder().decode(record.bytes);
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
	const reader = new RecordScanner();
	const records: string[] = [];
	const take = () => {
		for (let one = reader.next(); one; one = reader.next()) {
			expect(whole.subarray(one.offset, one.offset + one.bytes.length)).toEqual(one.bytes);
			records.push(toText(one));
		}
	};
	for (let at = 0; at < whole.length; at += size) {
		reader.feed(whole.subarray(at, at + size));
		take();
	}
	reader.finish();
	take();
	expect(reader.next()).toBeNull();
	return records;
}

function whole(file: Uint8Array): { next: () => string | undefined } {
	const reader = new RecordScanner();
	reader.feed(file);
	reader.finish();
	return {
		next: () => {
			const record = reader.next();
			return record ? toText(record) : undefined;
		}
	};
}

describe('a chain file', () => {
	const expected = [0, 1, 2].map(record);

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
	});
});
