//! The functions that the page calls.
//!
//! This is the one file with `unsafe` attributes. `no_mangle` is unsafe because two symbols of one name would clash: every
//! name here begins with `capsid_`, and nothing else exports a symbol. No function takes a pointer: the page writes only
//! into the buffer that `capsid_input` returned.
#![allow(unsafe_code)]

use crate::VerdictModule;
use std::cell::RefCell;

thread_local! {
    static MODULE: RefCell<VerdictModule> = RefCell::default();
}

fn with_module<T>(call: impl FnOnce(&mut VerdictModule) -> T) -> T {
    MODULE.with_borrow_mut(call)
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_input(len: usize) -> *mut u8 {
    with_module(|module| module.resize_input(len).as_mut_ptr())
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_output() -> *const u8 {
    with_module(|module| module.output().as_ptr())
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_output_len() -> usize {
    with_module(|module| module.output().len())
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_hash() {
    with_module(VerdictModule::hash);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_set_keys() {
    with_module(VerdictModule::set_keys);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_set_words() {
    with_module(VerdictModule::set_words);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_check() {
    with_module(VerdictModule::check);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_search() {
    with_module(VerdictModule::search);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_record() {
    with_module(VerdictModule::record);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_evaluate() {
    with_module(VerdictModule::evaluate);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_fold(chain: u32) {
    with_module(|module| module.fold(chain));
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_end_fold(chain: u32) {
    with_module(|module| module.end_fold(chain));
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_set_index() {
    with_module(VerdictModule::set_index);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_set_heads() {
    with_module(VerdictModule::set_heads);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_set_home() {
    with_module(VerdictModule::set_home);
}

// SAFETY: the only symbol of this name.
#[unsafe(no_mangle)]
extern "C" fn capsid_wanted() {
    with_module(VerdictModule::wanted);
}
