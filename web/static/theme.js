// Before the page is drawn, so that nobody sees the other colours first.
try {
	const theme = localStorage.getItem('capsid.theme');
	if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
	// Without storage the system's wish holds.
}
