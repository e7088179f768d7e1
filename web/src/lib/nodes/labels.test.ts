import { expect, test } from 'vitest';
import { nodeName, nodesAddress, partTitle, presence, readNodeQuery, signed } from './labels';

test('a node without a name is called by its id', () => {
	expect(nodeName({ alias: ' ', node_id: 'node_1' })).toBe('node_1');
	expect(nodeName({ alias: 'a\u202eb', node_id: 'node_1' })).toBe('a⟨U+202E⟩b');
});

test('an address is read and written back', () => {
	for (const text of ['/nodes', '/nodes?sort=newest', '/nodes?sort=newest&cursor=ab']) {
		const { sort, cursor } = readNodeQuery(new URL(text, 'http://hub').searchParams);
		expect(nodesAddress(sort, cursor)).toBe(text);
	}
});

test('presence and parts are told in words', () => {
	expect(presence({ online: false, survival_status: 'alive' })).toBe('seen today');
	expect(presence({ online: false, survival_status: 'dormant' })).toBe('dormant');
	expect(partTitle('promotion_rate')).toBe('Promotion rate');
	expect(partTitle('average_gdi')).toBe('Average GDI');
	expect([3.33, -0.6196, -0.04, 0].map(signed)).toEqual(['+3.3', '−0.6', '0.0', '0.0']);
});
