//! The fit: the weights are moved until the errors of whole samples are as they should be.

use std::collections::{BTreeMap, HashMap};

use tiktoken_rs::CoreBPE;

use super::made::Random;
use super::texts::Text;

#[path = "../../../src/tokens/heuristic.rs"]
#[allow(dead_code, missing_docs)]
mod heuristic;
#[path = "../../../src/tokens/heuristic_ranges.rs"]
#[allow(dead_code)]
mod heuristic_ranges;
#[path = "../../../src/tokens/heuristic_words.rs"]
#[allow(dead_code)]
mod heuristic_words;
#[path = "../../../src/tokens/utf8.rs"]
#[allow(dead_code)]
mod utf8;

use heuristic::{DENSE_LEN, GRAM_UNIT, GRAMS_LEN, MOST_PER_BYTE, Sink, walk};

/// What the mean error of a kind is aimed at, so far above the true count, where its samples spread by [`SPREAD`]; more where they
/// spread more.
const AIM: f32 = 0.078;
const SPREAD: f32 = 0.04;
/// How many times dearer an error of a long sample is when it is well below the aim.
const DEARER: f32 = 6.0;
/// How many times more a kind may weigh that is off its aim.
const MORE: f32 = 4.0;
/// Sizes of the samples that are fitted, in characters, and how much of the text is cut to each, in 32nds.
const SIZES: [(usize, usize); 4] = [(30, 1), (100, 3), (500, 22), (2000, 6)];
/// N-gram weight steps per token.
const STEPS: f32 = 64.0 / GRAM_UNIT as f32;
/// How much a short sample weighs.
const SHORT: f32 = 0.2;
/// What holds back weights that are seldom seen, so that text never seen costs what it should.
const DAMP: f32 = 3e-4;
/// What n-gram weights lose in a round: those that do little become 0, and the table compresses.
const LOSS: f32 = 0.002;
const ROUNDS: usize = 20;
/// From which round on n-gram weights are coarse.
const COARSE_FROM: usize = 6;
const COUNT: usize = DENSE_LEN + GRAMS_LEN;

/// What was fitted, in the units of heuristic.rs.
pub struct Weights(Vec<i32>);

impl Weights {
    /// From the file.
    pub fn read(bytes: &[u8]) -> Self {
        let (dense, grams) = bytes.split_at(2 * DENSE_LEN);
        let dense = dense.chunks(2).map(|pair| i32::from(i16::from_le_bytes([pair[0], pair[1]])));
        Self(dense.chain(grams.iter().map(|byte| i32::from(byte.cast_signed()))).collect())
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let (dense, grams) = self.0.split_at(DENSE_LEN);
        dense
            .iter()
            .flat_map(|weight| (*weight as i16).to_le_bytes())
            .chain(grams.iter().map(|weight| *weight as u8))
            .collect()
    }

    /// What the estimator counts with these weights.
    pub fn count(&self, text: &str) -> u32 {
        let mut recorder = Recorder::default();
        walk(text, &mut recorder);
        let (mut tokens, mut units, mut from) = (0, 0, 0);
        for (features, least, end) in &recorder.pieces {
            let cost: i32 = features
                .iter()
                .map(|&f| self.0[f as usize] * if usize::from(f) < DENSE_LEN { 1 } else { GRAM_UNIT })
                .sum();
            units += i64::from(cost).max(i64::from(*least)).min((end - from) as i64 * 64 * MOST_PER_BYTE as i64);
            from = *end;
            if recorder.paragraphs.contains(end) {
                tokens += if units == 0 { 0 } else { ((units + 32) / 64).max(1) };
                units = 0;
            }
        }
        tokens += if units == 0 { 0 } else { ((units + 32) / 64).max(1) };
        tokens.max(1) as u32
    }
}

/// Collects the pieces of a text.
#[derive(Default)]
struct Recorder {
    open: Vec<u16>,
    /// Weights, least cost, end.
    pieces: Vec<(Vec<u16>, u32, usize)>,
    paragraphs: std::collections::HashSet<usize>,
}

impl Sink for Recorder {
    fn dense(&mut self, id: usize) {
        self.open.push(id as u16);
    }
    fn gram(&mut self, cell: usize) {
        self.open.push((DENSE_LEN + cell) as u16);
    }
    fn close(&mut self, end: usize, least: u32) -> bool {
        self.pieces.push((std::mem::take(&mut self.open), least, end));
        false
    }
    fn paragraph(&mut self) {
        self.paragraphs.extend(self.pieces.last().map(|(_, _, end)| *end));
    }
}

/// The pieces there are: the weights that make each up and the least it can cost.
#[derive(Default)]
struct Pieces {
    features: Vec<u16>,
    ends: Vec<u32>,
    least: Vec<f32>,
}

impl Pieces {
    fn of(&self, piece: u32) -> &[u16] {
        let piece = piece as usize;
        let from = if piece == 0 { 0 } else { self.ends[piece - 1] as usize };
        &self.features[from..self.ends[piece] as usize]
    }
}

/// A sample of one of [`SIZES`]: its pieces and its true count.
struct Sample {
    kind: usize,
    pieces: Vec<u32>,
    truth: f32,
    /// Too short for its error to say much by itself.
    short: bool,
    weight: f32,
}

/// The samples of all texts, with the pieces they are made of, and how many kinds there are.
fn samples(texts: &[Text], bpe: &CoreBPE) -> (Vec<Sample>, Pieces, usize) {
    let mut totals: BTreeMap<&str, f32> = BTreeMap::new();
    let mut cuts = Vec::new();
    for text in texts {
        for (cut, size) in cut_to_sizes(&text.text) {
            let tokens = bpe.encode_ordinary(cut).len();
            *totals.entry(&text.kind).or_default() += tokens as f32;
            cuts.push((text, cut, size, tokens));
        }
    }
    let mut index: HashMap<(Vec<u16>, u32), u32> = HashMap::new();
    let (mut pieces, mut samples) = (Pieces::default(), Vec::new());
    let kinds: Vec<&str> = totals.keys().copied().collect();
    for (text, cut, size, tokens) in cuts {
        let kind = kinds.binary_search(&text.kind.as_str()).unwrap_or(0);
        // Every kind weighs the same, by tokens.
        let weight = text.weight * 100_000.0 / totals[kinds[kind]].max(3000.0);
        let truth = tokens as f32;
        let mut recorder = Recorder::default();
        walk(cut, &mut recorder);
        let short = size < 400;
        let scale = if short { SHORT } else { 1.0 };
        let mut sample = Sample { kind, pieces: Vec::new(), truth, short, weight: scale * weight * truth / 100.0 };
        for (features, least, _) in recorder.pieces {
            let piece = *index.entry((features, least)).or_insert_with_key(|(features, least)| {
                pieces.features.extend(features);
                pieces.ends.push(pieces.features.len() as u32);
                pieces.least.push(*least as f32 / 64.0);
                (pieces.ends.len() - 1) as u32
            });
            sample.pieces.push(piece);
        }
        samples.push(sample);
    }
    (samples, pieces, kinds.len())
}

/// Cuts all of a text into samples of [`SIZES`] and smaller, each with its size.
fn cut_to_sizes(text: &str) -> Vec<(&str, usize)> {
    let mut samples = Vec::new();
    for (i, stretch) in split(text, 2000).into_iter().enumerate() {
        // In an order that spreads the sizes: 5 has no factor in common with 32. Texts start anywhere in it.
        let mut slot = (text.len() + i * 5) % 32;
        for (size, share) in SIZES {
            if slot < share {
                samples.extend(split(stretch, size).into_iter().map(|sample| (sample, sample.chars().count())));
                break;
            }
            slot -= share;
        }
    }
    samples
}

fn shuffle(order: &mut [u32], random: &mut Random) {
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
}

pub fn fit(from: Weights, texts: &[Text], bpe: &CoreBPE) -> Weights {
    let (samples, pieces, kinds) = samples(texts, bpe);
    println!("{kinds} kinds, {} samples, {} different pieces", samples.len(), pieces.ends.len());
    let steps = |id: usize| if id < DENSE_LEN { 64.0 } else { STEPS };
    let mut weights: Vec<f32> = from.0.iter().enumerate().map(|(id, weight)| *weight as f32 / steps(id)).collect();
    fit_samples(&mut weights, &samples, &pieces, kinds);
    let whole = weights.iter().enumerate().map(|(id, weight)| {
        if id < DENSE_LEN { (weight * 64.0).round().clamp(-500.0, 500.0) as i32 } else { coarse(*weight) as i32 }
    });
    Weights(whole.collect())
}

/// Whole samples: their relative error, dearer below the aim than above.
fn fit_samples(weights: &mut [f32], samples: &[Sample], pieces: &Pieces, kinds: usize) {
    let mut random = Random(1);
    let mut squares = vec![DAMP; COUNT];
    let mut times_in = vec![0.0_f32; COUNT];
    let mut touched: Vec<u16> = Vec::new();
    // The weights in use: those of n-grams become as coarse as they are stored, and the fit goes on around that.
    let mut used = weights.to_vec();
    // Kinds whose samples are off on average weigh more in the next round, and are aimed the other way.
    let mut boost = vec![1.0_f32; kinds];
    let mut aims = vec![AIM; kinds];
    let mut order: Vec<u32> = (0..samples.len() as u32).collect();
    for round in 0..ROUNDS {
        if round == COARSE_FROM {
            for weight in used.iter_mut().skip(DENSE_LEN) {
                *weight = coarse(*weight) / STEPS;
            }
        }
        shuffle(&mut order, &mut random);
        let rate = 0.008 * (1.0 - round as f32 / ROUNDS as f32) + 0.0003;
        let (mut below, mut sum_error, mut sum_square) = (0.0, 0.0, 0.0);
        let mut means = vec![(0.0_f32, 0.0_f32, 0.0_f32); kinds];
        for &i in &order {
            let sample = &samples[i as usize];
            let mut predicted = 0.0;
            for &piece in &sample.pieces {
                let (features, least) = (pieces.of(piece), pieces.least[piece as usize]);
                let sum: f32 = features.iter().map(|&f| used[f as usize]).sum();
                predicted += sum.max(least);
                // The weights of what costs the least say nothing.
                for &f in features.iter().filter(|_| sum > least) {
                    if times_in[f as usize] == 0.0 {
                        touched.push(f);
                    }
                    times_in[f as usize] += 1.0;
                }
            }
            let relative = predicted / sample.truth - 1.0;
            let off = relative - aims[sample.kind];
            if !sample.short {
                sum_error += f64::from(relative);
                means[sample.kind].0 += relative;
                means[sample.kind].1 += 1.0;
                means[sample.kind].2 += relative * relative;
                sum_square += f64::from(relative * relative);
                below += f64::from(u8::from(relative < -0.05));
            }
            let dearer = if off < -0.05 && !sample.short { DEARER } else { 1.0 };
            let push = off * dearer * sample.weight.sqrt().min(4.0) * boost[sample.kind];
            for f in touched.drain(..).map(usize::from) {
                let times = std::mem::take(&mut times_in[f]);
                let g = push * times / sample.truth * 10.0;
                squares[f] += g * g;
                weights[f] -= rate * g / squares[f].sqrt();
                used[f] = if f >= DENSE_LEN && round >= COARSE_FROM { coarse(weights[f]) / STEPS } else { weights[f] };
            }
        }
        for id in DENSE_LEN..COUNT {
            weights[id] -= weights[id].clamp(-LOSS, LOSS);
            used[id] = if round >= COARSE_FROM { coarse(weights[id]) / STEPS } else { weights[id] };
        }
        let mut n = 0.0;
        for (kind, (sum, times, square)) in means.iter().enumerate().filter(|(_, (_, times, _))| *times > 0.0) {
            let sd = (square / times - (sum / times).powi(2)).max(0.0).sqrt();
            let sd = (sd * times + SPREAD * 8.0) / (times + 8.0);
            let aim = (AIM + sd - SPREAD).clamp(0.03, 0.11);
            let off = sum / times - aim;
            boost[kind] = (boost[kind] * (12.0 * off.abs() - 0.12).exp()).clamp(0.7, MORE);
            aims[kind] = (aims[kind] - 0.25 * off).clamp(aim - 0.06, aim + 0.03);
            n += f64::from(*times);
        }
        println!(
            "round {}: mean {:+.2} %, spread {:.2} %, too low {:.2} %",
            round + 1,
            sum_error / n * 100.0,
            (sum_square / n - (sum_error / n).powi(2)).sqrt() * 100.0,
            below / n * 100.0
        );
    }
}

/// An n-gram weight in whole steps.
fn coarse(weight: f32) -> f32 {
    (weight * STEPS).round().clamp(-8.0, 7.0)
}

/// A text in samples of about so many characters, cut at white space where there is any.
fn split(text: &str, size: usize) -> Vec<&str> {
    super::split(text, size, 0)
}
