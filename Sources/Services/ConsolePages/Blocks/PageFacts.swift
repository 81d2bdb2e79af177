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
    /// Each with its name, in words.
    var facts: [(label: String, value: Shown)]

    /// Facts.
    init(_ title: String? = nil, style: Style = .facts, _ facts: [(label: String, value: Shown)]) {
        self.title = title
        self.style = style
        self.facts = facts
    }

    func members(_ speaker: Speaker) -> [String: PageValue?] {
        func word(_ key: String) -> PageValue? { stream == nil ? nil : .text(speaker.word(key)) }
        return [
            "title": .optional(title), "stream": .optional(stream), "style": .text(style.rawValue),
            "more": word("more_than"), "pause": word("live_pause"), "resume": word("live_resume"),
            "facts": .list(
                facts.map { fact in
                    .members(["label": .text(fact.label), "value": .members(fact.value.members(speaker))])
                }),
        ]
    }
}
