import { SvelteMap } from 'svelte/reactivity';
import type { Engine, RecordQuery, TimelineRow } from './types';

export type TimelineQuery = Omit<RecordQuery, 'offset' | 'limit'>;

const CHUNK_SIZE = 60;
const MAX_CHUNKS = 12;

/** The rows of a timeline that are near what is seen. The rest stays with the engine. */
export class TimelineRows {
	total = $state(0);
	types = $state.raw<Record<string, number>>({});
	/** How many chains a search over all of them could not look through. */
	leftOut = $state(0);
	hasLoaded = $state(false);
	problem = $state.raw<unknown>(null);
	readonly #chunks = new SvelteMap<number, (TimelineRow | null)[]>();
	readonly #underway = new Set<number>();
	#query: TimelineQuery | null = null;
	#turn = 0;
	#range: [number, number] = [0, 1];

	constructor(readonly engine: Engine) {}

	at(index: number): TimelineRow | undefined {
		return this.#chunks.get(Math.floor(index / CHUNK_SIZE))?.[index % CHUNK_SIZE] ?? undefined;
	}

	/** Asks another question, or the same again when the answer may be different now. */
	async search(query: TimelineQuery): Promise<void> {
		const isSame = JSON.stringify(query) === JSON.stringify(this.#query);
		this.#query = query;
		this.#turn++;
		this.#underway.clear();
		if (!isSame) this.#range = [0, 1];
		// What is seen now stays until the answer is there, so that nothing flickers.
		await this.#fetch(Math.floor(this.#range[0] / CHUNK_SIZE), true);
		this.ensureLoaded(...this.#range);
	}

	/** Brings the rows that are seen. */
	ensureLoaded(first: number, end: number): void {
		this.#range = [first, Math.max(first + 1, end)];
		const last = Math.floor((this.#range[1] - 1) / CHUNK_SIZE);
		for (let chunk = Math.floor(first / CHUNK_SIZE); chunk <= last; chunk++)
			if (!this.#chunks.has(chunk) && !this.#underway.has(chunk)) void this.#fetch(chunk, false);
	}

	/** One row, wherever it is. */
	async getRow(index: number): Promise<TimelineRow | undefined> {
		const known = this.at(index);
		if (known || !this.#query) return known;
		return (await this.engine.find({ ...this.#query, offset: index, limit: 1 })).rows[0] ?? undefined;
	}

	async #fetch(chunk: number, isFirst: boolean): Promise<void> {
		if (!this.#query) return;
		const turn = this.#turn;
		this.#underway.add(chunk);
		try {
			const result = await this.engine.find({
				...this.#query,
				offset: chunk * CHUNK_SIZE,
				limit: CHUNK_SIZE
			});
			if (turn !== this.#turn) return;
			if (isFirst) this.#chunks.clear();
			this.#chunks.set(chunk, result.rows);
			this.total = result.total;
			this.types = result.types;
			this.leftOut = result.leftOut ?? 0;
			this.problem = null;
			this.#evictFar(chunk);
		} catch (thrown) {
			if (turn === this.#turn) this.problem = thrown;
		}
		this.#underway.delete(chunk);
		this.hasLoaded = true;
	}

	#evictFar(near: number): void {
		const far = [...this.#chunks.keys()].sort((one, other) => Math.abs(other - near) - Math.abs(one - near));
		for (const chunk of far.slice(0, Math.max(0, far.length - MAX_CHUNKS))) this.#chunks.delete(chunk);
	}
}
