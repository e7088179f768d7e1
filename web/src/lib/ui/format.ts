/** Numbers and times as people read them. `now` comes in, so that a test can choose it. */
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
	['year', 31_557_600_000],
	['month', 2_629_800_000],
	['day', 86_400_000],
	['hour', 3_600_000],
	['minute', 60_000]
];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const MOMENT = new Intl.DateTimeFormat('en', {
	month: 'short',
	day: 'numeric',
	hour: '2-digit',
	minute: '2-digit',
	second: '2-digit',
	hour12: false
});
const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });

export function formatAgo(at: string | number, now: number): string {
	const past = new Date(at).getTime() - now;
	if (!Number.isFinite(past)) return 'at an unknown time';
	const unit = UNITS.find(([, size]) => Math.abs(past) >= size);
	return unit ? RELATIVE.format(Math.round(past / unit[1]), unit[0]) : 'just now';
}

/** A moment in a list, where the year goes without saying. */
export function formatMoment(at: string | number): string {
	const when = new Date(at);
	return Number.isFinite(when.getTime()) ? MOMENT.format(when) : 'unknown';
}

export function formatDate(at: string | number): string {
	const when = new Date(at);
	return Number.isFinite(when.getTime()) ? DATE.format(when) : 'unknown';
}

/** 950, 1.2k, 3.4M. */
export function formatShort(value: number): string {
	if (Math.abs(value) < 1000) return String(value);
	const [divided, unit] = Math.abs(value) < 999_950 ? [value / 1e3, 'k'] : [value / 1e6, 'M'];
	return `${divided.toFixed(1).replace(/\.0$/, '')}${unit}`;
}

export function formatPercent(share: number): string {
	return `${Math.round(share * 100)}%`;
}

/** `sha256:0123abcd…` and other long ids, short enough for a line. */
export function shortenId(id: string): string {
	const hex = id.startsWith('sha256:') ? id.slice(7) : id;
	return hex.length > 16 ? `${hex.slice(0, 12)}…` : hex;
}

/** 1,234 */
export function formatCount(number: number): string {
	return number.toLocaleString('en');
}

export function formatPlural(number: number, one: string, many = `${one}s`): string {
	return `${formatCount(number)} ${number === 1 ? one : many}`;
}

/** The beginning of a text that strangers may have made endless. */
export function clipText(text: string, most = 2000): string {
	return text.length > most ? `${text.slice(0, most)}…` : text;
}
