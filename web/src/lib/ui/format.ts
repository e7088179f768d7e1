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

export function ago(at: string | number, now: number): string {
	const past = new Date(at).getTime() - now;
	if (!Number.isFinite(past)) return 'at an unknown time';
	const unit = UNITS.find(([, size]) => Math.abs(past) >= size);
	return unit ? RELATIVE.format(Math.round(past / unit[1]), unit[0]) : 'just now';
}

/** A moment in a list, where the year goes without saying. */
export function moment(at: string | number): string {
	const when = new Date(at);
	return Number.isFinite(when.getTime()) ? MOMENT.format(when) : 'unknown';
}

export function date(at: string | number): string {
	const moment = new Date(at);
	return Number.isFinite(moment.getTime()) ? DATE.format(moment) : 'unknown';
}

/** 950, 1.2k, 3.4M. */
export function short(count: number): string {
	if (Math.abs(count) < 1000) return String(count);
	const [divided, unit] = Math.abs(count) < 999_950 ? [count / 1e3, 'k'] : [count / 1e6, 'M'];
	return `${divided.toFixed(1).replace(/\.0$/, '')}${unit}`;
}

export function percent(share: number): string {
	return `${Math.round(share * 100)}%`;
}

/** `sha256:0123abcd…` and other long ids, short enough for a line. */
export function shortId(id: string): string {
	const hex = id.startsWith('sha256:') ? id.slice(7) : id;
	return hex.length > 16 ? `${hex.slice(0, 12)}…` : hex;
}

/** 1,234 */
export function count(number: number): string {
	return number.toLocaleString('en');
}

export function plural(number: number, one: string, many = `${one}s`): string {
	return `${count(number)} ${number === 1 ? one : many}`;
}
