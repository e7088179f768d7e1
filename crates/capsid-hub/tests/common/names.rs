//! Names and their addresses, as a test wants them. Nothing asks the network.

use capsid_hub::outbound::resolve::{ResolveFuture, Resolver};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::Mutex;

/// The address of every name that a test says nothing about.
const DEFAULT: &str = "93.184.215.14";

/// What names stand for.
#[derive(Debug, Default)]
pub struct Names {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    /// Sets what a name stands for, one answer after the other; the last one stays.
    pub fn set(&self, host: &str, answers: &[&[&str]]) {
        let read = |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        self.answers.lock().unwrap().insert(host.to_owned(), answers.iter().map(read).collect());
    }

    /// Which names were asked for since the last time.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn answer(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let Some(answers) = answers.get_mut(host) else { return Ok(vec![DEFAULT.parse().unwrap()]) };
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        answer.ok_or_else(|| io::Error::other("no such name"))
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        Box::pin(async move { self.answer(host) })
    }
}
