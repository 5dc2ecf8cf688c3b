//! The time that a program spends in each operator, sorted, as text or as a picture.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

use torch_library::prelude::*;

use crate::plan::{Action, Step};
use crate::run::Watch;

/// The times of a program's runs.
///
/// [`Display`](fmt::Display) prints a table with bars, [`to_svg`](Self::to_svg) makes a picture.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The time of each run, in order.
    runs: Vec<Duration>,
    operators: HashMap<String, (u64, Duration)>,
    modules: HashMap<String, (u64, Duration)>,
}

/// A row of a [`Profile`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// An operator, or a module.
    pub name: String,
    /// The number of calls, in all runs.
    pub calls: u64,
    /// The total time, in all runs.
    pub time: Duration,
}

impl Watch for Profile {
    fn around(&mut self, step: &Step, run: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if matches!(step.action, Action::Region(_)) {
            return run(self);
        }
        let start = Instant::now();
        let done = run(self);
        let took = start.elapsed();
        let name = step.place.target.strip_prefix("torch.ops.").unwrap_or(&step.place.target);
        add(&mut self.operators, name.strip_suffix(".default").unwrap_or(name), took);
        add(&mut self.modules, &step.place.module, took);
        done
    }
}

fn add(rows: &mut HashMap<String, (u64, Duration)>, name: &str, took: Duration) {
    let row = match rows.get_mut(name) {
        Some(row) => row,
        None => rows.entry(name.to_owned()).or_default(),
    };
    row.0 += 1;
    row.1 += took;
}

impl Profile {
    /// Times a run.
    pub(crate) fn run(&mut self, run: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let start = Instant::now();
        run(self)?;
        self.runs.push(start.elapsed());
        Ok(())
    }

    /// The total time of the runs, including the time between operators.
    pub fn total(&self) -> Duration {
        self.runs.iter().sum()
    }

    /// The median time of a run; zero if there are no runs.
    pub fn median(&self) -> Duration {
        let mut runs = self.runs.clone();
        runs.sort_unstable();
        runs.get(runs.len() / 2).copied().unwrap_or_default()
    }

    /// The shortest time of a run; zero if there are no runs.
    pub fn least(&self) -> Duration {
        self.runs.iter().min().copied().unwrap_or_default()
    }

    /// The time of each operator, in descending order.
    pub fn operators(&self) -> Vec<Row> {
        sorted(&self.operators)
    }

    /// The time that each module of the model spent in operators that it called itself; the model itself has an empty
    /// name.
    pub fn modules(&self) -> Vec<Row> {
        sorted(&self.modules)
    }

    /// The operators as a bar chart.
    pub fn to_svg(&self) -> String {
        const ROW: usize = 20;
        let rows = self.operators();
        let most = rows.first().map_or(1.0, |row| row.time.as_secs_f64()).max(1e-12);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" height=\"{}\" \
             font-family=\"monospace\" font-size=\"12\">\n",
            rows.len() * ROW + 10
        );
        for (place, row) in rows.iter().enumerate() {
            let (top, width) = (place * ROW + 5, (row.time.as_secs_f64() / most * 380.0).max(1.0));
            let name = row.name.replace('&', "&amp;").replace('<', "&lt;");
            let _ = writeln!(
                svg,
                "<text x=\"5\" y=\"{}\">{name}</text>\
                 <rect x=\"320\" y=\"{top}\" width=\"{width:.1}\" height=\"15\" fill=\"#4878a8\"/>\
                 <text x=\"{:.1}\" y=\"{}\">{}</text>",
                top + 12,
                325.0 + width,
                top + 12,
                self.time(row)
            );
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The time of a row per run, and its number of calls per run.
    fn time(&self, row: &Row) -> String {
        let runs = self.runs.len().max(1) as f64;
        let calls = format!("{:.0}", row.calls as f64 / runs);
        let noun = if calls == "1" { "call" } else { "calls" };
        format!("{:.1} µs in {calls} {noun}", row.time.as_secs_f64() * 1e6 / runs)
    }
}

fn sorted(rows: &HashMap<String, (u64, Duration)>) -> Vec<Row> {
    let row = |(name, (calls, time)): (&String, &(u64, Duration))| Row {
        name: name.clone(),
        calls: *calls,
        time: *time,
    };
    let mut rows: Vec<_> = rows.iter().map(row).collect();
    rows.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
    rows
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.operators();
        let within: Duration = rows.iter().map(|row| row.time).sum();
        let total = self.total().as_secs_f64().max(1e-12);
        writeln!(
            f,
            "{:.1} µs for one run, the median of {}; the quickest took {:.1} µs",
            self.median().as_secs_f64() * 1e6,
            self.runs.len(),
            self.least().as_secs_f64() * 1e6,
        )?;
        // The median does not say what the rows add up to, which one slow run changes.
        let mean = total * 1e6 / self.runs.len().max(1) as f64;
        writeln!(f, "{mean:.1} µs on average, of which")?;
        for row in &rows {
            let share = row.time.as_secs_f64() / total;
            let bar = "█".repeat((share * 30.0).round() as usize);
            writeln!(f, "{:5.1} %  {:<30} {:<40} {}", share * 100.0, bar, row.name, self.time(row))?;
        }
        let between = self.total().saturating_sub(within);
        writeln!(f, "{:5.1} %  {:30} between operators", between.as_secs_f64() / total * 100.0, "")
    }
}
