import { SvelteMap } from 'svelte/reactivity';
import type {
	Bundle,
	Engine,
	ChainStats,
	MetaView,
	Progress,
	BundleSource,
	BundleVerdict,
	TamperDemo,
	Verdict
} from './types';
import { savePins, loadPins } from './pins';

/** How often the rows are asked for anew while records come in. */
const REFRESH_MS = 400;

/** What the page knows of the chains it has open. The engine finds out; this remembers, and decides what comes next. */
export class BundleReader {
	phase = $state<'empty' | 'opening' | 'open' | 'failed'>('empty');
	problem = $state.raw<unknown>(null);
	bundle = $state.raw<Bundle | null>(null);
	meta = $state.raw<MetaView | null>(null);
	isMetaDone = $state(false);
	/** The verdict on everything; null until all is read, and while a record is changed for show. */
	whole = $state.raw<BundleVerdict | null>(null);
	progress = $state.raw<Progress | null>(null);
	pins = $state.raw<string[]>(loadPins());
	/** Counts up whenever rows may look different than before. */
	revision = $state(0);
	readonly verdicts = new SvelteMap<string, Verdict>();
	readonly stats = new SvelteMap<string, ChainStats>();
	readonly failures = new SvelteMap<string, unknown>();
	/** Records that were changed for show, by chain. */
	readonly tampered = new SvelteMap<string, TamperDemo>();
	/** Counts up while records come in. */
	arrivals = $state(0);

	#source: BundleSource | null = null;
	/** Chains that wait to be verified. The one that is looked at goes first. */
	#waiting: string[] = [];
	#visit = 0;
	#refreshed = 0;

	constructor(readonly engine: Engine) {}

	async open(source: BundleSource, first: string | null = null): Promise<void> {
		const visit = ++this.#visit;
		this.#source = source;
		this.phase = 'opening';
		try {
			const bundle = await this.engine.open(source, this.pins);
			if (visit !== this.#visit) return;
			this.#reset();
			this.bundle = bundle;
			this.#waiting = bundle.chains.map(({ id }) => id);
			if (first !== null) this.prefer(first);
			this.phase = 'open';
			void this.#verifyAll(visit);
		} catch (thrown) {
			if (visit !== this.#visit) return;
			this.problem = thrown;
			this.phase = 'failed';
		}
	}

	/** Reads everything again: what was sealed since, and with the keys as they are pinned now. */
	reload(first: string | null): Promise<void> {
		return this.#source ? this.open(this.#source, first) : Promise.resolve();
	}

	leave(): void {
		this.#visit++;
		this.#source = null;
		this.bundle = null;
		this.#reset();
		this.phase = 'empty';
	}

	pin(key: string, first: string | null): Promise<void> {
		return this.#setPins([...this.pins.filter((pin) => pin !== key), key], first);
	}

	unpin(key: string, first: string | null): Promise<void> {
		return this.#setPins(
			this.pins.filter((pin) => !key.startsWith(pin)),
			first
		);
	}

	/** Verifies this chain before the others. */
	prefer(chain: string): void {
		if (!this.#waiting.includes(chain)) return;
		this.#waiting = [chain, ...this.#waiting.filter((other) => other !== chain)];
	}

	async load(chain: string): Promise<void> {
		if (this.stats.has(chain)) return;
		const visit = this.#visit;
		const stats = await this.engine.load(chain, (progress) => this.#setProgress(visit, progress));
		if (visit === this.#visit) this.stats.set(chain, stats);
	}

	async verify(chain: string): Promise<Verdict | null> {
		const visit = this.#visit;
		this.#waiting = this.#waiting.filter((other) => other !== chain);
		this.verdicts.delete(chain);
		this.failures.delete(chain);
		try {
			const verdict = await this.engine.verify(chain, (progress) => this.#setProgress(visit, progress));
			if (visit !== this.#visit) return null;
			this.verdicts.set(chain, verdict);
			return verdict;
		} catch (thrown) {
			if (visit === this.#visit) this.failures.set(chain, thrown);
			return null;
		} finally {
			if (visit === this.#visit) this.#clearProgress();
		}
	}

	async tamper(chain: string): Promise<Verdict | null> {
		this.tampered.set(chain, await this.engine.tamper(chain));
		return this.#afterChange(chain);
	}

	async restore(chain: string): Promise<Verdict | null> {
		await this.engine.restore(chain);
		this.tampered.delete(chain);
		return this.#afterChange(chain);
	}

	/** Stops reading a chain. */
	async cancel(chain: string): Promise<void> {
		await this.engine.cancel(chain);
	}

	async compareMeta(): Promise<void> {
		const visit = this.#visit;
		const meta = await this.engine.meta().catch(() => null);
		if (visit !== this.#visit) return;
		this.meta = meta;
		this.isMetaDone = true;
		await this.#evaluate(visit);
	}

	async #evaluate(visit: number): Promise<void> {
		if (this.tampered.size > 0) return void (this.whole = null);
		const whole = await this.engine.evaluate().catch(() => null);
		if (visit === this.#visit && this.tampered.size === 0) this.whole = whole;
	}

	async #afterChange(chain: string): Promise<Verdict | null> {
		this.revision++;
		this.whole = null;
		const verdict = await this.verify(chain);
		void this.compareMeta();
		return verdict;
	}

	async #verifyAll(visit: number): Promise<void> {
		for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
			await this.verify(next);
			if (visit !== this.#visit) return;
		}
		await this.compareMeta();
	}

	#setPins(pins: string[], first: string | null): Promise<void> {
		this.pins = pins;
		savePins(pins);
		return this.reload(first);
	}

	#setProgress(visit: number, progress: Progress): void {
		if (visit !== this.#visit) return;
		this.progress = progress;
		const now = performance.now();
		if (now - this.#refreshed < REFRESH_MS) return;
		this.#refreshed = now;
		this.arrivals++;
	}

	#clearProgress(): void {
		this.progress = null;
		this.revision++;
	}

	#reset(): void {
		for (const collection of [this.verdicts, this.stats, this.failures, this.tampered]) collection.clear();
		this.meta = null;
		this.whole = null;
		this.isMetaDone = false;
		this.progress = null;
		this.revision++;
	}
}
