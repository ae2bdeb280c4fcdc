//! What the clients in Rust share; see client.h for the workloads.

use std::io::{BufRead, Write};

pub const HISTORY: usize = 1000;

/// The CPU time of this process, all threads, in microseconds.
pub fn cpu_us() -> i64 {
    unsafe {
        let mut u: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut u);
        (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1_000_000
            + u.ru_utime.tv_usec
            + u.ru_stime.tv_usec
    }
}

pub fn report(events: usize, began: i64) {
    println!("{{\"events\": {}, \"cpu_us\": {}}}", events, cpu_us() - began);
}

/// Prints a line and waits for one.
pub fn meet(line: &str) {
    say(line);
    let mut room = String::new();
    std::io::stdin().lock().read_line(&mut room).unwrap();
}

pub fn say(line: &str) {
    println!("{}", line);
    std::io::stdout().flush().unwrap();
}

pub fn allow_files() {
    unsafe {
        let mut most: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut most);
        most.rlim_cur = most.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &most);
    }
}

/// A message of the history: 400 bytes of prose.
pub fn prose() -> String {
    let text = "The gardener said: plant them in autumn, before the first \
                frost, as deep as a hand. ";
    text.chars().cycle().take(400).collect()
}

pub struct Args {
    pub workload: String,
    pub base: String,
    pub n: usize,
}

pub fn args() -> Args {
    let a: Vec<String> = std::env::args().collect();
    Args {
        workload: a[1].clone(),
        base: a[2].clone(),
        n: a[3].parse().unwrap(),
    }
}
