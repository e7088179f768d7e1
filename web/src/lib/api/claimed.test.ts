import { expect, test } from 'vitest';
import { claimedMember, claimedNumber, claimedText } from './claimed';

test('values of an unexpected type are left out', () => {
	expect(claimedText({ toString: () => 'x' })).toBeUndefined();
	expect(claimedNumber('1')).toBeUndefined();
	expect(claimedMember({ score: 0.5 }, 'score')).toBe(0.5);
	expect(claimedMember({}, 'constructor')).toBeUndefined();
	expect(claimedMember(null, 'score')).toBeUndefined();
});
