//! The fit: weights are moved, from older ones, until the errors of whole samples are as they should be.

use std::collections::{BTreeMap, HashMap};

use tiktoken_rs::CoreBPE;

use super::made::Random;
use super::split;
use super::texts::Text;

#[path = "../../../src/tokens/heuristic.rs"]
// `chat` is a feature of the library.
#[allow(dead_code, missing_docs, unexpected_cfgs)]
mod heuristic;
#[path = "../../../src/tokens/heuristic_joins.rs"]
pub(super) mod heuristic_joins;
#[path = "../../../src/tokens/heuristic_ranges.rs"]
#[allow(dead_code)]
mod heuristic_ranges;
#[path = "../../../src/tokens/heuristic_words.rs"]
#[allow(dead_code)]
mod heuristic_words;
#[path = "../../../src/tokens/utf8.rs"]
#[allow(dead_code)]
mod utf8;

use heuristic::{DENSE_LEN, GRAM_UNIT, Sink, walk};

/// A kind whose samples spread by this much is aimed at what the list says, one that spreads more so much higher, up to the most.
const SPREAD: f32 = 0.04;
const MAX_MARGIN: f32 = 0.11;
/// How many times dearer an error of a long sample is that is this far below the aim.
const DEARER: f32 = 16.0;
const BELOW: f32 = 0.05;
/// How many times more a kind may weigh that is off its aim.
const MORE: f32 = 4.0;
/// Sizes of the samples, in characters, and how much of the text is cut to each, in 32nds.
const SIZES: [(usize, usize); 4] = [(30, 1), (100, 3), (500, 22), (2000, 6)];
/// How much a sample of less than 400 characters weighs.
const SHORT: f32 = 0.1;
/// What the error of each piece counts beside that of the sample, and what a piece should cost for each token.
const PIECE: (f32, f32) = (0.05, 1.05);
/// What holds back weights that are seldom seen.
const DAMP: f32 = 3e-4;
/// What n-gram weights lose in a round, so that those that do little become 0 and the table compresses.
const LOSS: f32 = 0.004;
/// How many steps an n-gram weight has to be from the older one before it changes by one.
const HOLD: f32 = 0.75;
const ROUNDS: usize = 12;
/// From which round on n-gram weights are coarse.
const COARSE_FROM: usize = 6;
/// Units of a token: of the weights by kind of character, and of n-grams.
const UNIT: f32 = 64.0;
const STEPS: f32 = UNIT / GRAM_UNIT as f32;

/// Collects the pieces of a text: the weights that make each up, and the least it can cost.
#[derive(Default)]
struct Recorder {
    open: Vec<u16>,
    pieces: Vec<(Vec<u16>, u32)>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Sink for Recorder {
    fn dense(&mut self, id: usize) {
        self.open.push(id as u16);
    }
    fn gram(&mut self, cell: usize) {
        self.open.push((DENSE_LEN + cell) as u16);
    }
    fn close(&mut self, end: usize, least: u32) -> bool {
        let open = std::mem::take(&mut self.open);
        // One without a character, as after the last of a script without spaces, costs nothing.
        if self.ends.last().is_none_or(|&last| last < end) {
            self.pieces.push((open, least));
            self.ends.push(end);
        }
        false
    }
    // Weights are fitted to texts, which cost more than their bounds.
    fn bound(&mut self, _: u32) {}
    fn paragraph(&mut self) {}
}

/// A sample of one of [`SIZES`]: its pieces, with how many tokens begin in each, and its true count.
struct Sample {
    kind: usize,
    pieces: Vec<(u32, u16)>,
    truth: f32,
    /// Too short for its error to say much by itself.
    is_short: bool,
    weight: f32,
}

/// The weights as the file has them, fitted to `texts` from those of the file `from`.
pub fn fit(from: &[u8], texts: &[Text], bpe: &CoreBPE) -> Vec<u8> {
    // What each kind is aimed at, and its tokens.
    let mut kinds: BTreeMap<&str, (f32, f32)> = BTreeMap::new();
    let mut cuts = Vec::new();
    for text in texts {
        let total = &mut kinds.entry(&text.kind).or_insert((text.aim, 0.0)).1;
        for sample in cut_to_sizes(&text.text) {
            let tokens = bpe.encode_ordinary(sample);
            *total += tokens.len() as f32;
            cuts.push((text, sample, tokens));
        }
    }
    let names: Vec<&str> = kinds.keys().copied().collect();
    let mut index: HashMap<(Vec<u16>, u32), u32> = HashMap::new();
    let mut samples = Vec::new();
    // Every other one: that is enough.
    for (text, cut, tokens) in cuts.into_iter().step_by(2) {
        let mut recorder = Recorder::default();
        walk(cut, &mut recorder);
        let truth = tokens.len() as f32;
        let is_short = cut.chars().count() < 400;
        // Every kind weighs the same, by tokens.
        let weight = text.weight * 1000.0 / kinds[text.kind.as_str()].1.max(3000.0) * truth;
        let weight = (weight * if is_short { SHORT } else { 1.0 }).sqrt().min(4.0);
        let mut number = |piece| {
            let next = index.len() as u32;
            *index.entry(piece).or_insert(next)
        };
        let pieces = recorder.pieces.into_iter().map(&mut number);
        let pieces = pieces.zip(begun(&recorder.ends, &tokens, bpe)).collect();
        let kind = names.binary_search(&text.kind.as_str()).unwrap_or(0);
        samples.push(Sample { kind, pieces, truth, is_short, weight });
    }
    println!("{} kinds, {} samples, {} different pieces", kinds.len(), samples.len(), index.len());
    let mut pieces = vec![(Vec::new(), 0.0); index.len()];
    for ((features, least), at) in index {
        pieces[at as usize] = (features, least as f32 / UNIT);
    }
    let (dense, grams) = from.split_at(2 * DENSE_LEN);
    let dense = dense.chunks(2).map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / UNIT);
    let before: Vec<f32> = dense.chain(grams.iter().map(|byte| f32::from(byte.cast_signed()) / STEPS)).collect();
    let used = descend(&before, &samples, &pieces, &kinds.values().map(|kind| kind.0).collect::<Vec<_>>());
    let (dense, grams) = used.split_at(DENSE_LEN);
    // Capitals cost some units more than fitted: by the letter that begins a piece, and by the ends of words with one capital.
    let ends = DENSE_LEN - 60..DENSE_LEN - 20;
    let more = |id: usize| if id == 4 { 4.0 } else { 2.0 * f32::from(u8::from(ends.contains(&id) && id % 4 == 1)) };
    let dense = dense.iter().enumerate().map(|(id, weight)| (weight * UNIT).round() + more(id));
    let dense = dense.flat_map(|weight| (weight.clamp(-500.0, 500.0) as i16).to_le_bytes());
    dense.chain(grams.iter().map(|weight| ((weight * STEPS).round() as i8).cast_unsigned())).collect()
}

/// Cuts all of a text into samples of [`SIZES`] and smaller.
fn cut_to_sizes(text: &str) -> Vec<&str> {
    let mut samples = Vec::new();
    for (i, stretch) in split(text, 2000, 0).into_iter().enumerate() {
        // In an order that spreads the sizes: 5 has no factor in common with 32. Texts start anywhere in it.
        let mut slot = (text.len() + i * 5) % 32;
        for (size, share) in SIZES {
            if slot < share {
                samples.extend(split(stretch, size, 0));
                break;
            }
            slot -= share;
        }
    }
    samples
}

/// How many of the tokens begin in each of the pieces that end there.
fn begun(ends: &[usize], tokens: &[u32], bpe: &CoreBPE) -> Vec<u16> {
    let (mut begun, mut at) = (vec![0_u16; ends.len()], 0);
    for &token in tokens {
        begun[ends.partition_point(|&end| end <= at)] += 1;
        at += bpe.decode_bytes(&[token]).map_or(0, |bytes| bytes.len());
    }
    begun
}

/// The weights after [`ROUNDS`], in tokens: those of n-grams in whole steps.
fn descend(before: &[f32], samples: &[Sample], pieces: &[(Vec<u16>, f32)], wanted: &[f32]) -> Vec<f32> {
    let mut random = Random(1);
    let mut weights = before.to_vec();
    // The weights in use: those of n-grams become as coarse as they are stored, and the fit goes on around that.
    let mut used = before.to_vec();
    let coarse = |weight: f32, id: usize| {
        let off = (weight - before[id]) * STEPS;
        let moved = if off.abs() < HOLD { 0.0 } else { ((off.abs() - HOLD).floor() + 1.0).copysign(off) };
        (before[id] * STEPS + moved).round().clamp(-8.0, 7.0) / STEPS
    };
    let mut squares = vec![DAMP; before.len()];
    // How many pieces of a sample a weight is in, and their errors.
    let [mut times_in, mut errors] = [(); 2].map(|()| vec![0.0_f32; before.len()]);
    let mut touched: Vec<u16> = Vec::new();
    // Kinds whose samples are off on average weigh more in the next round, and are aimed the other way.
    let mut boost = vec![1.0_f32; wanted.len()];
    let mut aims = wanted.to_vec();
    let mut order: Vec<usize> = (0..samples.len()).collect();
    for round in 0..ROUNDS {
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        let is_coarse = round >= COARSE_FROM;
        let rate = 0.008 * (1.0 - round as f32 / ROUNDS as f32) + 0.0003;
        let mut below = 0.0;
        // Of each kind: how many long samples, their errors, the squares of these.
        let mut sums = vec![(0.0_f32, 0.0_f32, 0.0_f32); wanted.len()];
        for sample in order.iter().map(|&i| &samples[i]) {
            let mut predicted = 0.0;
            for &(piece, begun) in &sample.pieces {
                let (features, least) = &pieces[piece as usize];
                let sum: f32 = features.iter().map(|&f| used[f as usize]).sum();
                predicted += sum.max(*least);
                // The weights of what costs the least say nothing.
                for &f in features.iter().filter(|_| sum > *least) {
                    if times_in[f as usize] == 0.0 {
                        touched.push(f);
                    }
                    times_in[f as usize] += 1.0;
                    errors[f as usize] += sum - f32::from(begun) * PIECE.1;
                }
            }
            let error = predicted / sample.truth - 1.0;
            if !sample.is_short {
                let (times, sum, square) = sums[sample.kind];
                sums[sample.kind] = (times + 1.0, sum + error, square + error * error);
                below += f32::from(u8::from(error < -BELOW));
            }
            let off = error - aims[sample.kind];
            let dearer = if off < -BELOW && !sample.is_short { DEARER } else { 1.0 };
            let push = off * dearer * sample.weight * boost[sample.kind];
            for f in touched.drain(..).map(usize::from) {
                let own = PIECE.0 * sample.weight * std::mem::take(&mut errors[f]);
                let gradient = (push * std::mem::take(&mut times_in[f]) + own) / sample.truth * 10.0;
                squares[f] += gradient * gradient;
                weights[f] -= rate * gradient / squares[f].sqrt();
                used[f] = if is_coarse && f >= DENSE_LEN { coarse(weights[f], f) } else { weights[f] };
            }
        }
        for id in DENSE_LEN..before.len() {
            weights[id] -= weights[id].clamp(-LOSS, LOSS);
            used[id] = if round + 1 >= COARSE_FROM { coarse(weights[id], id) } else { weights[id] };
        }
        for (kind, &(times, sum, square)) in sums.iter().enumerate().filter(|(_, sums)| sums.0 > 0.0) {
            let mean = sum / times;
            let spread = (square / times - mean * mean).max(0.0).sqrt();
            let spread = (spread * times + SPREAD * 8.0) / (times + 8.0);
            let aim = (wanted[kind] + spread - SPREAD).clamp(0.0, MAX_MARGIN);
            let off = mean - aim;
            boost[kind] = (boost[kind] * (12.0 * off.abs() - 0.12).exp()).clamp(0.7, MORE);
            aims[kind] = (aims[kind] - 0.25 * off).clamp(aim - 0.06, aim + 0.03);
        }
        let (times, sum) = sums.iter().fold((0.0, 0.0), |all, kind| (all.0 + kind.0, all.1 + kind.1));
        println!("round {}: mean {:+.2} %, too low {:.2} %", round + 1, sum / times * 100.0, below / times * 100.0);
    }
    used
}
