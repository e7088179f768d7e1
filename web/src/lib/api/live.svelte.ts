/** What the hub tells while a page is open. The browser connects again by itself. */
export class Live {
	stats = $state<Record<string, number> | undefined>();
	isConnected = $state(false);
	/** Goes up whenever assets, tasks or bounties changed; a page that depends on it loads again. */
	changes = $state(0);
	#source: EventSource | undefined;

	open(): () => void {
		const source = new EventSource('/a2a/live');
		this.#source = source;
		source.onopen = () => (this.isConnected = true);
		source.onerror = () => (this.isConnected = false);
		source.addEventListener('stats', (event) => {
			this.stats = JSON.parse((event as MessageEvent<string>).data) as Record<string, number>;
			this.changes += 1;
		});
		return () => {
			source.close();
			if (this.#source === source) this.isConnected = false;
		};
	}
}

export const live = new Live();
