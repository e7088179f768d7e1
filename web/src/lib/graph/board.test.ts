import { expect, test } from 'vitest';
import { readView, type Call } from './address';
import { GraphBoard } from './board.svelte';
import { thing } from './samples';

/** A board, and the keys of what it asked for since they were taken last. */
function asking() {
	const asked: string[] = [];
	const board = new GraphBoard(async ({ key }: Call) => {
		asked.push(key.replace('/kg/graph?', ''));
		return { nodes: [thing(key)], edges: [], hits: [], path: [], truncated: false };
	});
	return {
		board,
		show: async (text: string, by?: string) => {
			await board.show(readView(new URLSearchParams(text)), by);
			return asked.splice(0);
		}
	};
}

test('each thing that is opened is one question, and going back is none', async () => {
	const { show } = asking();
	expect(await show('q=x')).toHaveLength(1);
	expect(await show('q=x&open=a')).toEqual(['around=a']);
	expect(await show('q=x&open=a,b')).toEqual(['around=b']);
	expect(await show('q=x&open=a')).toEqual([]);
	const many = Array.from({ length: 40 }, (_, place) => `e${place}`).join(',');
	expect(await show(`q=y&open=${many}&from=a&to=b`)).toHaveLength(3);
});

test('whoever comes back to what was paid for is asked nothing, and another account is', async () => {
	const { board, show } = asking();
	expect(await show('q=x', 'ann')).toHaveLength(1);
	board.leave(true);
	expect(board.drawing.nodes).toHaveLength(0);
	expect(await show('q=x', 'ann')).toHaveLength(0);
	expect(board.drawing.nodes).toHaveLength(1);
	expect(await show('q=x', 'bob')).toHaveLength(1);
	board.leave(false);
	expect(await show('q=x', 'bob')).toHaveLength(1);
});
