/// Which word was probably meant.
enum Spelling {
    /// The word that is most like a text; nil where more than so many letters are otherwise.
    static func nearest(to text: String, among words: some Sequence<String>, upTo most: Int) -> String? {
        words.compactMap { word in distance(text, word, upTo: most).map { (word, $0) } }
            .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
    }

    /// Likewise, where a third of it may be otherwise.
    static func nearest(to text: String, among words: some Sequence<String>) -> String? {
        nearest(to: text, among: words, upTo: max(2, text.utf8.count / 3))
    }

    /// How many letters have to be put in, taken out, changed or swapped with the next one; nil where it is more than that.
    private static func distance(_ a: String, _ b: String, upTo most: Int) -> Int? {
        let (a, b) = (Array(a.utf8), Array(b.utf8))
        guard abs(a.count - b.count) <= most else { return nil }
        var rows = [Array(0...b.count)]
        for i in 1...max(1, a.count) where i <= a.count {
            var row = [i]
            for j in 1...max(1, b.count) where j <= b.count {
                var least = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    least = min(least, rows[i - 2][j - 2] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        let found = rows[a.count][b.count]
        return found <= most ? found : nil
    }
}
