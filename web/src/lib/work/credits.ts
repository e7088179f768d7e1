/** Credits are counted in thousandths, so sums are made with whole numbers. */
const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });

export function formatCredits(amount: number): string {
	return `${NUMBER.format(amount)} ${Math.abs(amount) === 1 ? 'credit' : 'credits'}`;
}

/** What an account holds, as the hub tells it. */
export interface Balances {
	credit_balance: number;
	granted_balance: number;
	earned_balance: number;
}

/** All that an account holds, and which part was granted and which was earned. */
export function formatBalances(held: Balances): string {
	const [granted, earned] = [NUMBER.format(held.granted_balance), NUMBER.format(held.earned_balance)];
	return `${formatCredits(held.credit_balance)} (${granted} granted, ${earned} earned)`;
}

/** With its sign, as in a statement. */
export function formatDelta(amount: number): string {
	const sign = amount > 0 ? '+' : amount < 0 ? '−' : '';
	return sign + NUMBER.format(Math.abs(amount));
}

export function addCredits(one: number, other: number): number {
	return subtractCredits(one, -other);
}

export function subtractCredits(from: number, amount: number): number {
	return (Math.round(from * 1000) - Math.round(amount * 1000)) / 1000;
}

/** What somebody typed as an amount: exact to a thousandth, or why it is none. */
export function parseAmount(text: string, least = 0): { amount: number } | { wrong: string } {
	const typed = text.trim().replace(',', '.');
	if (typed === '') return { wrong: 'Type a number of credits.' };
	if (!/^\d{1,12}(\.\d*)?$/.test(typed)) return { wrong: 'Type a number such as 12.5.' };
	if (!/^\d+(\.\d{0,3})?0*$/.test(typed)) return { wrong: 'Credits are exact to a thousandth, not finer.' };
	const amount = Math.round(Number(typed) * 1000) / 1000;
	return amount < least ? { wrong: `Type at least ${formatCredits(least)}.` } : { amount };
}
