/// <reference types="@sveltejs/kit" />
/// <reference types="svelte" />
export {};
