/** Who serves these pages: a hub, a desk (`capsid trail explore`, `capsid events --web`), or a file opened from disk. */
export type Place = 'hub' | 'local' | 'file';

export function place(): Place {
	const said = document.querySelector<HTMLMetaElement>('meta[name="capsid-place"]')?.content;
	return said === 'local' || said === 'file' ? said : 'hub';
}
