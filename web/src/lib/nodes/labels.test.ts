import { expect, test } from 'vitest';
import {
	formatNodeName,
	buildNodesHref,
	formatPartTitle,
	describePresence,
	parseNodeQuery,
	formatSigned
} from './labels';

test('a node without a name is called by its id', () => {
	expect(formatNodeName({ alias: ' ', node_id: 'node_1' })).toBe('node_1');
	expect(formatNodeName({ alias: 'a\u202eb', node_id: 'node_1' })).toBe('a⟨U+202E⟩b');
});

test('an address is read and written back', () => {
	for (const text of ['/nodes', '/nodes?sort=newest', '/nodes?sort=newest&cursor=ab']) {
		const { sort, cursor } = parseNodeQuery(new URL(text, 'http://hub').searchParams);
		expect(buildNodesHref(sort, cursor)).toBe(text);
	}
});

test('presence and parts are described in words', () => {
	expect(describePresence({ online: false, survival_status: 'alive' })).toBe('seen today');
	expect(describePresence({ online: false, survival_status: 'dormant' })).toBe('dormant');
	expect(formatPartTitle('promotion_rate')).toBe('Promotion rate');
	expect(formatPartTitle('average_gdi')).toBe('Average GDI');
	expect([3.33, -0.6196, -0.04, 0].map(formatSigned)).toEqual(['+3.3', '−0.6', '0.0', '0.0']);
});
