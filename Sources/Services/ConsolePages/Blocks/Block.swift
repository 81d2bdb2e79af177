/// A part of a page: all pages are made of these, so that what is alike looks alike.
enum Block: Sendable {
    /// Something to be noticed, and where to go for it.
    case note(String, Tone, PageLink? = nil)
    /// A sentence.
    case text(String)
    /// Names and what they are.
    case facts(PageFacts)
    /// A list.
    case table(PageTable)
    /// A form.
    case form(PageForm)
    /// Links beside each other.
    case links([PageLink])
    /// A picture of numbers.
    case plot(Plot)
    /// A long text for machines, folded.
    case code(String, String)
    /// A JSON value; each of its parts folds.
    case tree(JSONTree)

    /// For the layout: with the name of its template.
    /// - Parameter id: what ids within it begin with, of its own on the page.
    func value(_ speaker: Speaker, id: String) -> PageValue {
        let (kind, members): (String, [String: PageValue?]) =
            switch self {
            case .note(let text, let tone, let link):
                (
                    "note",
                    [
                        "text": .text(text), "tone": .text(tone.rawValue),
                        "role": .text(tone == .bad ? "alert" : "status"), "link": .optional(link?.text),
                        "href": .optional(link.map { speaker.link($0.place) }),
                    ]
                )
            case .text(let text): ("text", ["text": .text(text)])
            case .facts(let facts): ("facts", facts.members(speaker))
            case .table(let table): ("table", table.members(speaker))
            case .form(let form): ("form", form.members(speaker, id: id))
            case .links(let links):
                (
                    "links",
                    [
                        "links": .list(
                            links.map {
                                .members([
                                    "text": .text($0.text), "href": .text(speaker.link($0.place)),
                                    "isCurrent": .flag($0.isCurrent),
                                ])
                            })
                    ]
                )
            case .plot(let plot): ("plot", plot.members(speaker, id: id))
            case .code(let title, let text): ("code", ["title": .text(title), "text": .text(text)])
            case .tree(let tree): ("json", tree.members())
            }
        return .compact(members.merging(["kind": .text(kind), "id": .text(id)]) { _, own in own })
    }
}

/// A link by itself.
struct PageLink: Sendable, Hashable {
    /// What it says.
    var text: String
    /// Where it leads.
    var place: Place
    /// Whether that is what the page shows.
    var isCurrent = false

    /// A link.
    init(_ text: String, _ place: Place, isCurrent: Bool = false) {
        self.text = text
        self.place = place
        self.isCurrent = isCurrent
    }
}
