import { auth } from '$lib/api/session.svelte';
import { addCredits } from '$lib/work/credits';

/** What an account agreed to pay for a question, and what it paid since. */
interface Kept {
	by: string;
	price: number;
	spent: number;
}

const KEY = 'capsid.graph';

/** What questions cost whoever is logged in. It is remembered until the tab is closed, and no longer. */
export class CreditBalance {
	#kept = $state<Kept | undefined>(stored());

	/** Another account has agreed to nothing. */
	get #own(): Kept | undefined {
		return this.#kept && this.#kept.by === auth.session?.email ? this.#kept : undefined;
	}

	get spent(): number {
		return this.#own?.spent ?? 0;
	}

	/** Nobody is asked to agree to nothing. Who agreed to less is asked again. */
	isAgreed(price: number): boolean {
		return price === 0 || (this.#own !== undefined && price <= this.#own.price);
	}

	agree(price: number): void {
		if (auth.session) this.#keep({ by: auth.session.email, price, spent: this.spent });
	}

	spend(credits: number): void {
		if (this.#own && credits > 0) this.#keep({ ...this.#own, spent: addCredits(this.spent, credits) });
	}

	#keep(kept: Kept): void {
		this.#kept = kept;
		try {
			sessionStorage.setItem(KEY, JSON.stringify(kept));
		} catch {
			// A browser that keeps nothing asks again when the page is loaded again.
		}
	}
}

function stored(): Kept | undefined {
	try {
		const { by, price, spent } = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Partial<Kept>;
		const isWhole = typeof by === 'string' && Number.isFinite(price) && Number.isFinite(spent);
		return isWhole ? { by, price: price!, spent: spent! } : undefined;
	} catch {
		return undefined;
	}
}

export const creditBalance = new CreditBalance();
