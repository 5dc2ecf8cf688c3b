//! The order of equal elements, which PyTorch leaves to the algorithms of C++'s standard library.
//!
//! They are those of libstdc++: quicksort around the median of three elements, which becomes heapsort where it gets too
//! deep, and leaves short parts to an insertion sort. They are not stable, but the same elements always end up in the
//! same order, and the index of an element shows it. The comparison is whether an element precedes another.

/// Parts of at most this many elements are left to the insertion sort.
pub(super) const SHORT: usize = 16;

/// PyTorch: `std::sort`.
pub(super) fn sort<R: Copy>(line: &mut [R], precedes: &impl Fn(R, R) -> bool) {
    if line.is_empty() {
        return;
    }
    quicksort(line, depth(line.len()), precedes);
    let first = line.len().min(SHORT);
    insertion_sort(&mut line[..first], precedes);
    (first..line.len()).for_each(|at| insert(line, at, precedes));
}

/// Brings the element with `nth` others before it to its place: none of those precedes it, and it precedes none after.
///
/// PyTorch: `std::nth_element`.
pub(super) fn nth_element<R: Copy>(line: &mut [R], nth: usize, precedes: &impl Fn(R, R) -> bool) {
    let (mut start, mut end, mut depth) = (0, line.len(), depth(line.len()));
    while end - start > 3 {
        let part = &mut line[start..end];
        if depth == 0 {
            heap_select(part, nth - start + 1, precedes);
            part.swap(0, nth - start);
            return;
        }
        depth -= 1;
        match start + split(part, precedes) {
            cut if cut <= nth => start = cut,
            cut => end = cut,
        }
    }
    insertion_sort(&mut line[start..end], precedes);
}

/// Sorts the first `count` elements, and leaves the others in any order.
///
/// PyTorch: `std::partial_sort`.
pub(super) fn partial_sort<R: Copy>(line: &mut [R], count: usize, precedes: &impl Fn(R, R) -> bool) {
    heap_select(line, count, precedes);
    for end in (1..count).rev() {
        let last = line[end];
        line[end] = line[0];
        sift(&mut line[..end], 0, last, precedes);
    }
}

/// Brings the element with `nth` others before it to its place, by Hoare's selection around the median of three.
/// `None` if that takes more steps than there are reasons to wait for.
///
/// PyTorch: `quick_select_template`.
pub(super) fn quick_select<R: Copy>(
    line: &mut [R],
    nth: usize,
    precedes: &impl Fn(R, R) -> bool,
) -> Option<R> {
    let (mut left, mut right) = (0, line.len() - 1);
    let mut steps = line.len().saturating_mul(64);
    while right > left + 1 {
        steps = steps.checked_sub(right - left)?;
        line.swap(left + (right - left) / 2, left + 1);
        for (a, b) in [(left + 1, right), (left, right), (left + 1, left)] {
            order(line, a, b, precedes);
        }
        let (pivot, mut i, mut j) = (line[left], left + 1, right);
        loop {
            i += 1;
            while precedes(line[i], pivot) {
                i += 1;
            }
            j -= 1;
            while precedes(pivot, line[j]) {
                j -= 1;
            }
            if j < i {
                break;
            }
            line.swap(i, j);
        }
        line.swap(left, j);
        if j >= nth {
            right = j.saturating_sub(1);
        }
        if j <= nth {
            left = i;
        }
    }
    if right == left + 1 {
        order(line, left, right, precedes);
    }
    Some(line[nth])
}

/// Swaps two elements if the second precedes the first.
fn order<R: Copy>(line: &mut [R], first: usize, second: usize, precedes: &impl Fn(R, R) -> bool) {
    if precedes(line[second], line[first]) {
        line.swap(first, second);
    }
}

/// How often a line is split before heapsort takes over.
fn depth(len: usize) -> u32 {
    2 * len.checked_ilog2().unwrap_or(0)
}

fn quicksort<R: Copy>(mut line: &mut [R], mut depth: u32, precedes: &impl Fn(R, R) -> bool) {
    while line.len() > SHORT {
        if depth == 0 {
            return partial_sort(line, line.len(), precedes);
        }
        depth -= 1;
        let cut = split(line, precedes);
        let (before, after) = line.split_at_mut(cut);
        quicksort(after, depth, precedes);
        line = before;
    }
}

/// Splits a line around the median of three of its elements, which is put first: where the second part begins.
fn split<R: Copy>(line: &mut [R], precedes: &impl Fn(R, R) -> bool) -> usize {
    let [a, b, c] = [1, line.len() / 2, line.len() - 1];
    let before = |a: usize, b: usize| precedes(line[a], line[b]);
    let median = if before(a, b) {
        if before(b, c) {
            b
        } else if before(a, c) {
            c
        } else {
            a
        }
    } else if before(a, c) {
        a
    } else if before(b, c) {
        c
    } else {
        b
    };
    line.swap(0, median);
    let pivot = line[0];
    let (mut first, mut last) = (1, line.len());
    // The bounds matter only where not every two elements can be compared.
    loop {
        while first < line.len() && precedes(line[first], pivot) {
            first += 1;
        }
        last -= 1;
        while last > 0 && precedes(pivot, line[last]) {
            last -= 1;
        }
        if first >= last {
            return first;
        }
        line.swap(first, last);
        first += 1;
    }
}

fn insertion_sort<R: Copy>(line: &mut [R], precedes: &impl Fn(R, R) -> bool) {
    for at in 1..line.len() {
        if precedes(line[at], line[0]) {
            line[..=at].rotate_right(1);
        } else {
            insert(line, at, precedes);
        }
    }
}

/// Moves an element before those that it precedes.
fn insert<R: Copy>(line: &mut [R], mut at: usize, precedes: &impl Fn(R, R) -> bool) {
    let element = line[at];
    while at > 0 && precedes(element, line[at - 1]) {
        line[at] = line[at - 1];
        at -= 1;
    }
    line[at] = element;
}

/// Makes a heap of the first `count` elements of a line, in any order: none is preceded by one after them. The first of
/// the heap is the last in order.
fn heap_select<R: Copy>(line: &mut [R], count: usize, precedes: &impl Fn(R, R) -> bool) {
    let (heap, rest) = line.split_at_mut(count);
    for parent in (0..count / 2).rev() {
        sift(heap, parent, heap[parent], precedes);
    }
    for element in rest {
        if count > 0 && precedes(*element, heap[0]) {
            let inserted = std::mem::replace(element, heap[0]);
            sift(heap, 0, inserted, precedes);
        }
    }
}

/// Puts an element into a heap that has a hole: the hole sinks to the bottom, and the element rises from there.
fn sift<R: Copy>(heap: &mut [R], top: usize, element: R, precedes: &impl Fn(R, R) -> bool) {
    let mut hole = top;
    while 2 * hole + 2 < heap.len() {
        let (left, right) = (2 * hole + 1, 2 * hole + 2);
        let child = if precedes(heap[right], heap[left]) { left } else { right };
        heap[hole] = heap[child];
        hole = child;
    }
    if 2 * hole + 2 == heap.len() {
        heap[hole] = heap[2 * hole + 1];
        hole = 2 * hole + 1;
    }
    while hole > top && precedes(heap[(hole - 1) / 2], element) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = element;
}
