import type { Plugin } from 'vite';

export function docs(): Plugin;
export function pageAddress(path: string): string;
export function linkAddress(page: string, target: string): string | undefined;
export function renderPage(page: string, text: string): { title: string; html: string };
