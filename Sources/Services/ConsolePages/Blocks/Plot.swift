/// Bars, drawn by the server. For screen readers each has a text, and the numbers stand in a table beside it.
struct Plot: Sendable {
    /// A bar.
    struct Bar: Sendable, Hashable {
        /// What it is of, such as a month.
        var name: String
        /// How high it is; below zero it goes down. Nil where that is not known: then there is none.
        var value: Int64?
        /// Whether it is not complete: then it is hatched.
        var isUnfinished = false
    }

    /// What is shown, in words.
    var title: String
    /// How a value is written.
    var write: @Sendable (Int64, Speaker) -> String
    /// The least distance of two marks beside the picture: less would be written as the same text twice.
    var finest: Int64 = 1
    /// In order.
    var bars: [Bar]
    /// A sentence below it.
    var note: String?

    /// The most bars that a picture is made with.
    static let most = 400

    // The picture is 1000 wide and 300 high: the marks stand left of 110, the names below 270.
    private static let left = 110
    private static let width = 890
    private static let top = 14
    private static let bottom = 266

    func members(_ speaker: Speaker, id: String) -> [String: PageValue?] {
        let scale = Scale(bars.compactMap(\.value), finest: finest)
        return [
            "title": .text(title), "note": .optional(note),
            "about": .text(bars.map { text(of: $0, speaker) }.joined(separator: "; ")),
            "lines": .list(
                scale.marks.map { mark in
                    let y = Self.y(mark, scale)
                    return .members([
                        "y": .text("\(y)"), "textY": .text("\(y + 4)"), "text": .text(write(mark, speaker)),
                    ])
                }),
            "bars": .list(bars.indices.map { bar($0, scale, speaker, id) }),
            "names": .list(names),
        ]
    }

    private func text(of bar: Bar, _ speaker: Speaker) -> String {
        let text = "\(bar.name): \(bar.value.map { write($0, speaker) } ?? "–")"
        return bar.isUnfinished ? "\(text) (\(speaker.word("unfinished")))" : text
    }

    private func bar(_ place: Int, _ scale: Scale, _ speaker: Speaker, _ id: String) -> PageValue {
        let bar = bars[place]
        let (zero, end) = (Self.y(0, scale), Self.y(bar.value ?? 0, scale))
        let (x, step) = (Self.left + Self.width * place / bars.count, max(1, Self.width / bars.count))
        // What is not zero is seen.
        let height = max(abs(zero - end), (bar.value ?? 0) == 0 ? 0 : 1)
        return .compact([
            "x": .text("\(x + step / 8)"), "y": .text("\(min(zero, end))"),
            "width": .text("\(max(1, step * 3 / 4))"), "height": .text("\(height)"),
            "text": .text(text(of: bar, speaker)), "fill": bar.isUnfinished ? .text("url(#\(id)-hatched)") : nil,
        ])
    }

    /// As many as there is room for.
    private var names: [PageValue] {
        let every = max(1, (bars.count + 11) / 12)
        return bars.indices.filter { $0.isMultiple(of: every) }.map { place in
            let middle = Self.left + Self.width * place / bars.count + Self.width / bars.count / 2
            return .members(["x": .text("\(middle)"), "text": .text(bars[place].name)])
        }
    }

    private static func y(_ value: Int64, _ scale: Scale) -> Int {
        let height = Int128(bottom - top)
        return top + Int((Int128(scale.most) - Int128(value)) * height / Int128(scale.span))
    }

    /// From what to what the picture goes: round numbers around all values, zero among them.
    struct Scale: Sendable, Hashable {
        /// The highest.
        let most: Int64
        /// The lowest.
        let least: Int64
        /// The distance of two marks.
        let step: Int64

        /// A scale for values.
        /// - Parameter finest: the least distance of two marks; above 0.
        init(_ values: [Int64], finest: Int64 = 1) {
            // Beyond that, a picture would say nothing any more.
            let bound = Int64.max / 8
            let (high, low) = (min(max(values.max() ?? 0, 0), bound), max(min(values.min() ?? 0, 0), -bound))
            let step = max(finest, Self.step(for: max(1, high - low)))
            self.step = step
            most = max(step, (high + step - 1) / step * step)
            least = 0 - (0 - low + step - 1) / step * step
        }

        /// How far it goes.
        var span: Int64 { most - least }

        /// Where lines are drawn.
        var marks: [Int64] { Array(stride(from: least, through: most, by: Int64.Stride(step))) }

        /// 1, 2 or 5 times a power of ten, so that there are four or five of them.
        private static func step(for span: Int64) -> Int64 {
            var power: Int64 = 1
            while span / power >= 50 { power *= 10 }
            for factor in [1, 2, 5, 10] as [Int64] where span / (power * factor) < 5 { return power * factor }
            return power * 10
        }
    }
}
