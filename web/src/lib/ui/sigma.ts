/** What pictures of points and lines share. The library is large, so it comes when the first one is drawn. */
export async function loadSigma() {
	const [{ default: Sigma }, { default: Graph }] = await Promise.all([import('sigma'), import('graphology')]);
	return { Sigma, Graph };
}

/** Whether this browser can draw them. Whoever shows one says the same in words too. */
export function canDraw(): boolean {
	return Boolean(document.createElement('canvas').getContext('webgl2'));
}

interface Picture {
	kill(): void;
}

/** Draws, and takes the picture away when it is no longer wanted, be it drawn by then or not. For an effect to return. */
export function drawWhileMounted(
	draw: (isGone: () => boolean) => Promise<Picture | undefined>,
	failed: () => void
): () => void {
	let isGone = false;
	const drawing = draw(() => isGone).catch(() => {
		failed();
		return undefined;
	});
	return () => {
		isGone = true;
		void drawing.then((picture) => picture?.kill());
	};
}
