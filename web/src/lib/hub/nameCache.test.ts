import { expect, test } from 'vitest';
import { assetTitles, nodeNames, rememberAsset, rememberNode } from './nameCache';

test('names and titles are stored as inert text, and an id is not a name', () => {
	rememberNode({ node_id: 'node_1', alias: 'shop\u202e' });
	rememberNode({ node_id: 'node_2', alias: null });
	rememberNode({ node_id: 'node_3', alias: 'node_3' });
	expect([...nodeNames]).toEqual([['node_1', 'shop⟨U+202E⟩']]);
	rememberAsset({ asset_id: 'sha256:0', type: 'Capsule', summary: 'Retry twice' });
	expect(assetTitles.get('sha256:0')).toBe('Retry twice');
});
