//! How different two names are, for messages that suggest what was meant.

/// The edit distance between two texts: how many characters to insert, delete or replace to make one the other.
///
/// # Examples
/// ```
/// assert_eq!(torch_library_schema::edit_distance("Tenosr", "Tensor"), 2);
/// ```
pub fn edit_distance(left: &str, right: &str) -> usize {
    weighted_edit_distance(left, right, 1, |from, to| usize::from(from != to))
}

/// Like [`edit_distance`], where inserting or deleting a character costs `edit`, and putting one in place of another
/// costs `replace`.
///
/// # Examples
/// ```
/// let replace = |from: char, to: char| match from == to {
///     true => 0,
///     false if from.eq_ignore_ascii_case(&to) => 1,
///     false => 4,
/// };
/// assert_eq!(torch_library_schema::weighted_edit_distance("cpu", "CPU", 4, replace), 3);
/// ```
pub fn weighted_edit_distance(
    left: &str,
    right: &str,
    edit: usize,
    replace: impl Fn(char, char) -> usize,
) -> usize {
    let right: Vec<char> = right.chars().collect();
    // The distances between the beginning of `left` that has been read and each beginning of `right`.
    let mut row: Vec<usize> = (0..=right.len()).map(|len| len * edit).collect();
    for from in left.chars() {
        let mut diagonal = row[0];
        row[0] += edit;
        for (column, &to) in right.iter().enumerate() {
            let best = (diagonal + replace(from, to)).min(row[column] + edit).min(row[column + 1] + edit);
            diagonal = std::mem::replace(&mut row[column + 1], best);
        }
    }
    row[right.len()]
}
