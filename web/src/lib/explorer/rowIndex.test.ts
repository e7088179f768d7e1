import { expect, it } from 'vitest';
import { RowIndex } from './rowIndex';
import type { CheckedRow } from './verifier';

const RECORDS = 100_000;

/** A row with words and a signer of its own. */
function createRow(at: number): CheckedRow {
	const hash = at.toString(16).padStart(64, '0');
	const previous = at === 0 ? null : (at - 1).toString(16).padStart(64, '0');
	return [
		0,
		10,
		[at, previous, hash, null, [null, 'k', 'retired', false], `signer-${at}`, null],
		[
			`type-${at}`,
			`tool-${at}`,
			`status-${at}`,
			null,
			`request-${at}`,
			'',
			2 ** 40,
			3,
			at,
			false,
			false,
			null
		]
	];
}

it('100,000 records keep their own words, however many there are', () => {
	const index = new RowIndex();
	for (let at = 0; at < RECORDS; at++) index.add(createRow(at), at * 10, index.getHash(at - 1));
	for (const at of [0, 65_535, 65_536, RECORDS - 1]) {
		expect(index.getRow('c', at)).toMatchObject({
			position: at,
			type: `type-${at}`,
			tool: `tool-${at}`,
			status: `status-${at}`,
			request: `request-${at}`,
			inputTokens: 2 ** 32 - 1,
			outputTokens: 3,
			marks: { hash: true, link: true, signature: true, signer: 'retired' }
		});
		expect(index.getSigner(at)).toBe(`signer-${at}`);
	}
});
