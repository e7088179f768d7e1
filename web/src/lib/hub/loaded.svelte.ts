/** What a call answered, or why it did not. An answer that was overtaken by a later call is dropped. */
export class Loaded<T> {
	value = $state.raw<T>();
	problem = $state.raw<unknown>();
	#turn = 0;

	async load(call: () => Promise<T>): Promise<void> {
		const turn = ++this.#turn;
		try {
			const value = await call();
			if (turn !== this.#turn) return;
			this.value = value;
			this.problem = undefined;
		} catch (thrown) {
			if (turn === this.#turn) this.problem = thrown;
		}
	}
}
