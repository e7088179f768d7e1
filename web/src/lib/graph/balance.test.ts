import { beforeEach, expect, test, vi } from 'vitest';
import { auth } from '$lib/api/session.svelte';
import { CreditBalance } from './balance.svelte';

const kept = new Map<string, string>();
const storage = {
	getItem: (key: string) => kept.get(key) ?? null,
	setItem: (key: string, value: string) => void kept.set(key, value)
};

const isNow = (email: string) =>
	(auth.session = { token: email, email, role: 'user', expires_at: '2030-01-01T00:00:00Z' });

beforeEach(() => {
	kept.clear();
	vi.stubGlobal('sessionStorage', storage);
	isNow('ann@example.org');
});

test('what is free needs no word, and a price needs one, once', () => {
	const purse = new CreditBalance();
	expect([purse.isAgreed(0), purse.isAgreed(2)]).toEqual([true, false]);
	purse.agree(2);
	expect([purse.isAgreed(2), purse.isAgreed(1), purse.isAgreed(2.001)]).toEqual([true, true, false]);
});

test('what was spent is exact, and known after the page is loaded again', () => {
	const purse = new CreditBalance();
	purse.spend(5);
	expect(purse.spent).toBe(0);
	purse.agree(0.1);
	for (const credits of [0.1, 0.1, 0.1, 0]) purse.spend(credits);
	expect(purse.spent).toBe(0.3);
	purse.agree(0.2);
	expect([new CreditBalance().spent, new CreditBalance().isAgreed(0.2)]).toEqual([0.3, true]);
});

test('another account, and nobody, has agreed to nothing', () => {
	const purse = new CreditBalance();
	purse.agree(2);
	purse.spend(2);
	isNow('bob@example.org');
	expect([purse.isAgreed(2), purse.spent]).toEqual([false, 0]);
	auth.session = undefined;
	purse.agree(2);
	expect(purse.isAgreed(2)).toBe(false);
	isNow('ann@example.org');
	expect([purse.isAgreed(2), purse.spent]).toEqual([true, 2]);
});

test('a storage that is broken or closed does not keep anybody from asking', () => {
	kept.set('capsid.graph', '{"by":"ann@example.org","price":"free"}');
	expect(new CreditBalance().isAgreed(2)).toBe(false);
	vi.stubGlobal('sessionStorage', undefined);
	const purse = new CreditBalance();
	purse.agree(2);
	expect(purse.isAgreed(2)).toBe(true);
});
