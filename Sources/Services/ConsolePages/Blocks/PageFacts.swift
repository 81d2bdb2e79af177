/// Names and what they are.
struct PageFacts: Sendable {
    /// How they stand.
    enum Style: String, Sendable {
        /// Beside each other, as many as there is room for.
        case facts
        /// The few numbers of a first look.
        case cards
    }

    /// What they are of, in words; nil where the page says it.
    var title: String?
    /// How they stand.
    var style = Style.facts
    /// The path of a stream of events that goes on with what is live of them; nil for none.
    var stream: String?
    /// A value of what the stream sends, by its path, and what it is on this page: where it becomes another, or is gone, a place is loaded.
    /// Nil for none.
    var holdsWhile: (path: String, value: String, place: Place)?
    /// Each with its name, in words.
    var facts: [(label: String, value: Shown)]

    /// Facts without a title.
    init(style: Style = .facts, _ facts: [(label: String, value: Shown)]) { self.init(nil, style: style, facts) }

    /// Facts.
    init(_ title: String?, style: Style = .facts, _ facts: [(label: String, value: Shown)]) {
        self.title = title
        self.style = style
        self.facts = facts
    }

    func members(_ speaker: Speaker) -> [String: PageValue?] {
        func word(_ key: String) -> PageValue? { stream == nil ? nil : .text(speaker.word(key)) }
        return [
            "title": .optional(title), "stream": .optional(stream), "style": .text(style.rawValue),
            "while": .optional(holdsWhile?.path), "is": .optional(holdsWhile?.value), "again": word("look_again"),
            "place": .optional(holdsWhile.map { speaker.link($0.place) }),
            "more": word("more_than"), "pause": word("live_pause"), "resume": word("live_resume"),
            "facts": .list(
                facts.map { fact in
                    .members(["label": .text(fact.label), "value": .members(fact.value.members(speaker))])
                }),
        ]
    }
}
