/** A canvas knows neither variables nor light-dark(): the browser works the colour out where the picture stands. */
export function resolveColour(box: HTMLElement, name: string): string {
	const probe = document.createElement('span');
	probe.style.color = `var(${name})`;
	box.append(probe);
	const computed = getComputedStyle(probe).color;
	probe.remove();
	return computed;
}
