/** Finds the files of a bundle in what the reader chose, dropped, or opened. */

/** Names files relative to the folder of `index.json`, at any depth. Null if there is none. */
export function rebaseOnIndex<T>(files: Record<string, T>): Record<string, T> | null {
	const indexes = Object.keys(files).filter((path) => /(^|\/)index\.json$/.test(path));
	const index = indexes.sort((one, other) => countDepth(one) - countDepth(other))[0];
	if (index === undefined) return null;
	const folder = index.slice(0, -'index.json'.length);
	const inside = Object.entries(files).filter(([path]) => path.startsWith(folder));
	return Object.fromEntries(inside.map(([path, file]) => [path.slice(folder.length), file]));
}

/** The folder of a bundle on this very server. Null: another server's, or no address of a folder. */
export function parseBundleBase(address: string, origin: string): string | null {
	if (!URL.canParse(address, origin)) return null;
	const url = new URL(address, origin);
	if (url.origin !== origin || !/^https?:$/.test(url.protocol)) return null;
	const path = url.pathname.replace(/\/index\.json$/, '/');
	return path.endsWith('/') ? path : `${path}/`;
}

/** What a file chooser gives. */
export function listChosenFiles(list: Iterable<File>): Record<string, Blob> {
	return Object.fromEntries([...list].map((file) => [file.webkitRelativePath || file.name, file]));
}

/** What was dropped: files, and folders with all that is in them. */
export async function readDroppedFiles(items: DataTransferItemList): Promise<Record<string, Blob>> {
	// The list is emptied as soon as the event is over, so every entry is taken first.
	const taken = [...items].map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
	const fileLists = await Promise.all(
		taken.map(({ entry, file }) =>
			entry ? readEntryFiles(entry, '') : file ? [[file.name, file] as const] : []
		)
	);
	return Object.fromEntries(fileLists.flat());
}

async function readEntryFiles(entry: FileSystemEntry, folder: string): Promise<[string, Blob][]> {
	const path = folder + entry.name;
	if (entry.isFile) {
		const read = (entry as FileSystemFileEntry).file.bind(entry);
		return [[path, await new Promise<File>(read)]];
	}
	const children = await readAllEntries((entry as FileSystemDirectoryEntry).createReader());
	return (await Promise.all(children.map((child) => readEntryFiles(child, `${path}/`)))).flat();
}

/** A reader gives a hundred entries at a time, and none when it is done. */
async function readAllEntries(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
	const all: FileSystemEntry[] = [];
	for (;;) {
		const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
		if (some.length === 0) return all;
		all.push(...some);
	}
}

/** The bundle that the program wrote into this page. */
export function readPageFiles(page: Document): Record<string, string> {
	const scripts = page.querySelectorAll<HTMLScriptElement>('script[type="application/json"][data-file]');
	return Object.fromEntries(
		[...scripts].map((script) => [script.dataset['file']!, script.textContent ?? ''])
	);
}

function countDepth(path: string): number {
	return path.split('/').length;
}
