import { hasStatsChanged } from './statsChange';
import type { components } from './schema';

type HubStats = components['schemas']['HubStats'];

/** The statistics that the hub sends while a page is open. The browser connects again by itself. */
export class Live {
	stats = $state.raw<HubStats | undefined>();
	isConnected = $state(false);
	/** Goes up whenever assets, tasks, bounties or nodes changed; a page that depends on it loads again. */
	changes = $state(0);
	#source: EventSource | undefined;

	open(): () => void {
		const source = new EventSource('/a2a/live');
		this.#source = source;
		source.onopen = () => (this.isConnected = true);
		source.onerror = () => (this.isConnected = false);
		source.addEventListener('stats', (event) => {
			const stats = JSON.parse((event as MessageEvent<string>).data) as HubStats;
			if (hasStatsChanged(this.stats, stats)) this.changes += 1;
			this.stats = stats;
		});
		return () => {
			source.close();
			if (this.#source === source) this.isConnected = false;
		};
	}
}

export const live = new Live();
