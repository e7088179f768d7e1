import { expect, it } from 'vitest';
import { KeySet, publicKey, type PublicKey } from './keys';

function key(hex: string): PublicKey {
	const read = publicKey(hex);
	if (!read) throw new Error(`${hex} is no key`);
	return read;
}

const ours = key('03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8');
const theirs = key('ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c');

it('finds a key by each of its names and no other', () => {
	const keys = new KeySet();
	keys.add(ours, 'bundled');
	keys.add(theirs, 'bundled');
	const found = (name: string) => keys.candidates(name).map(({ key }) => key.hex);
	for (const name of ['03a107bff3ce10be', ours.hex, 'qp_key_03a1']) expect(found(name)).toEqual([ours.hex]);
	for (const name of ['', '03a1', 'qp_key_', 'qp_key_03a10', '03A107BFF3CE10BE', `${ours.hex}0`]) {
		expect(found(name)).toEqual([]);
	}
});

it('keeps the origin that says more', () => {
	const keys = new KeySet();
	keys.add(ours, 'pinned');
	keys.add(ours, 'bundled');
	keys.add(theirs, 'bundled');
	keys.add(theirs, 'own');
	expect(keys.all().map(({ origin }) => origin)).toEqual(['pinned', 'own']);
	expect([keys.isOwn(ours), keys.isOwn(theirs)]).toEqual([false, true]);
});
