import Base

/// What a cell of a table, or a fact, shows.
indirect enum Shown: Sendable, Hashable {
    /// A dash: there is nothing, or it is not known.
    case nothing
    /// A text, which may come from outside.
    case text(String)
    /// An id, for machines.
    case code(String)
    /// A number.
    case number(Int64)
    /// A share, in thousandths of a percent.
    case share(Int64)
    /// Thousandths of a currency, which is empty where no record says it.
    case money(Int64, String)
    /// An instant, on the reader's clock.
    case time(Timestamp)
    /// Yes or no.
    case flag(Bool)
    /// A state: what kind of state, and which.
    case state(String, String)
    /// Something that leads to a place.
    case link(Shown, Place)
    /// Several things, one below the other.
    case several([Shown])
    /// Something that a stream goes on with, by its path in what the stream sends. See ``PageFacts/stream``.
    case live(Shown, String)

    // MARK: What may be missing

    /// A text, or nothing.
    static func words(_ text: String?) -> Shown { text.map { .text($0) } ?? .nothing }
    /// An id, or nothing.
    static func id(_ text: String?) -> Shown { text.map { .code($0) } ?? .nothing }
    /// A number, or nothing.
    static func count(_ number: Int64?) -> Shown { number.map { .number($0) } ?? .nothing }
    /// A share, or nothing.
    static func part(_ share: Int64?) -> Shown { share.map { .share($0) } ?? .nothing }
    /// An amount, or nothing.
    static func amount(_ milliunits: Int64?, _ currency: String?) -> Shown {
        milliunits.map { .money($0, currency ?? "") } ?? .nothing
    }
    /// An instant, or nothing.
    static func at(_ instant: Timestamp?) -> Shown { instant.map { .time($0) } ?? .nothing }
    /// Yes, no, or nothing.
    static func whether(_ flag: Bool?) -> Shown { flag.map { .flag($0) } ?? .nothing }
    /// A state, or nothing.
    static func standing(_ kind: String, _ value: String?) -> Shown { value.map { .state(kind, $0) } ?? .nothing }
    /// Several things, or nothing where there are none.
    static func all(_ things: [Shown]) -> Shown {
        things.count > 1 ? .several(things) : things.first ?? .nothing
    }

    /// The same, leading to a place.
    func leading(to place: Place?) -> Shown { place.map { self == .nothing ? self : .link(self, $0) } ?? self }

    // MARK: For the template

    /// What the template of a cell is filled with. Most cells are a text alone, and are written with the fewest tags: they take most of a page's time.
    func members(_ speaker: Speaker) -> [String: PageValue] {
        plain(speaker).map { ["plain": .text($0)] } ?? ["rich": .members(rich(speaker))]
    }

    /// The text of what is a text alone; nil for all else.
    private func plain(_ speaker: Speaker) -> String? {
        switch self {
        case .nothing: "–"
        case .text(let text): text
        case .number(let number): speaker.number(number)
        case .share(let share): speaker.share(share)
        case .money(let milliunits, let currency): speaker.money(milliunits, currency)
        case .flag(let flag): speaker.word(flag ? "yes" : "no")
        case .code, .time, .state, .link, .several, .live: nil
        }
    }

    /// A text, and what stands around it.
    private func rich(_ speaker: Speaker) -> [String: PageValue] {
        switch self {
        case .nothing, .text, .number, .share, .money, .flag: return ["text": .text(plain(speaker) ?? "")]
        case .code(let text): return ["text": .text(text), "isCode": true]
        case .time(let instant):
            return ["text": .text(speaker.time(instant)), "instant": .text(instant.description)]
        case .state(let kind, let value):
            return [
                "text": .text(speaker.word(of: kind, value)), "tone": .text(Tone.of(kind, value).rawValue),
            ]
        case .link(let shown, let place):
            var members = shown.rich(speaker)
            members["href"] = .text(speaker.link(place))
            return members
        case .several(let things):
            return ["text": "", "parts": .list(things.map { .members($0.members(speaker)) })]
        case .live(let shown, let path):
            var members = shown.rich(speaker)
            members["live"] = .text(path)
            return members
        }
    }
}
