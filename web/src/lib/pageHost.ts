/** Who serves these pages: a hub, the local viewer (`capsid trail explore`, `capsid events --web`), or a file opened from disk. */
export type PageHost = 'hub' | 'local' | 'file';

export function detectPageHost(): PageHost {
	const content = document.querySelector<HTMLMetaElement>('meta[name="capsid-place"]')?.content;
	return content === 'local' || content === 'file' ? content : 'hub';
}
