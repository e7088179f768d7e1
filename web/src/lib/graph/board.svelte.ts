import { callsOf, type Call, type View } from './address';
import { draw } from './calls';
import { EMPTY, merge } from './merge';
import type { Drawing } from './shapes';

/** How many answers are kept, so that going back asks nothing again. */
const KEPT = 100;

/** Everything that the address asks for, in one drawing. */
export class GraphBoard {
	drawing = $state.raw(EMPTY);
	isLoading = $state(false);
	/** The first question that was refused. */
	refused = $state.raw<{ call: Call; thrown: unknown } | undefined>();
	#answers = new Map<string, Drawing>();
	#turn = 0;
	#by: string | undefined;

	constructor(readonly ask: (call: Call) => Promise<Drawing>) {}

	/** Shows what a view asks for, one answer added to the other. Until all is there, what is shown stays. */
	async show(view: View, by?: string): Promise<void> {
		// What one account was answered is not another's.
		if (by !== this.#by) this.#answers.clear();
		this.#by = by;
		const calls = callsOf(view, (key) => this.#answers.has(key));
		const turn = ++this.#turn;
		let [board, refused] = [EMPTY, undefined as typeof this.refused];
		this.isLoading = true;
		for (const [place, call] of calls.entries()) {
			const isNew = !this.#answers.has(call.key);
			try {
				const answer = await this.#answer(call);
				if (turn !== this.#turn) return;
				board = merge(board, answer, call.anchors);
				// A new beginning is shown at once, whatever else is asked for.
				if (place === 0 && isNew) this.drawing = board;
			} catch (thrown) {
				if (turn !== this.#turn) return;
				refused ??= { call, thrown };
				// What would be added to an answer is nothing without it.
				if (place === 0) break;
			}
		}
		[this.drawing, this.refused, this.isLoading] = [board, refused, false];
	}

	/** Nobody looks any more. What was answered is kept where it is worth something. */
	leave(isKept: boolean): void {
		this.#turn += 1;
		[this.drawing, this.refused, this.isLoading] = [EMPTY, undefined, false];
		if (!isKept) this.#answers.clear();
	}

	async #answer(call: Call): Promise<Drawing> {
		const known = this.#answers.get(call.key);
		if (known) return known;
		const answer = await this.ask(call);
		if (this.#answers.size >= KEPT) this.#answers.clear();
		this.#answers.set(call.key, answer);
		return answer;
	}
}

/** What this page was answered. Whoever paid for an answer and comes back does not pay again. */
export const board = new GraphBoard(draw);
