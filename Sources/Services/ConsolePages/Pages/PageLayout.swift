import AccountStore
import Base
import Staff

/// The frame of all pages: head, navigation, the switch of environments, the foot.
struct PageLayout: Sendable {
    let templates: Templates
    let files: StaticFiles
    /// Whether people log in here, and so may leave.
    let isByLogin: Bool

    /// A page.
    /// - Parameters:
    ///   - section: where it stands in the navigation.
    ///   - place: where it is, for the switches.
    func bytes(
        _ content: PageContent, for visitor: Visitor?, token: FormToken?, in section: Section?, at place: Place,
        _ speaker: Speaker, _ record: CallRecord?, now: Timestamp
    ) -> [UInt8] {
        let calls = record?.calls ?? []
        var members: [String: PageValue] = [
            "language": .text(speaker.language.rawValue), "prefix": .text(speaker.prefix),
            "version": .text(files.version), "title": .text(content.title), "refreshes": .flag(content.refreshes),
            "isSandbox": .flag(speaker.environment != Environment.production.rawValue),
            "w": speaker.words.fillings(in: speaker.language), "home": .text(speaker.link(Place())),
            "csrf": .text(token?.text ?? ""),
            "blocks": .list(content.blocks.enumerated().map { $1.value(speaker, id: "b\($0 + 1)") }),
            "hasSame": .flag(!calls.isEmpty || !content.commands.isEmpty), "commands": .texts(content.commands),
            "calls": .texts(calls), "view": .text(speaker.prefix + Place("view").path), "place": .text(place.text),
            "zone": .text(ZonedTime.name(of: speaker.zone)), "zones": .texts(ZonedTime.common),
            "languages": .list(Language.allCases.map { language(of: $0, speaker) }),
            "asOf": .text(speaker.word("as_of", ["time": speaker.time(now)])),
        ]
        if let visitor {
            members["visitor"] = self.visitor(visitor, at: place, speaker)
            members["hasNavigation"] = .flag(true)
            members["navigation"] = .list(Section.allCases.map { link(to: $0, isCurrent: $0 == section, speaker) })
        }
        if let instant = speaker.instant {
            members["instant"] = self.instant(instant, record?.times ?? [], at: place, speaker)
        }
        return templates.page(members)
    }

    private func language(of language: Language, _ speaker: Speaker) -> PageValue {
        .members([
            "value": .text(language.rawValue), "name": .text(language.name),
            "isCurrent": .flag(language == speaker.language),
        ])
    }

    private func visitor(_ visitor: Visitor, at place: Place, _ speaker: Speaker) -> PageValue {
        let environments = [Environment.production, .sandbox].map { environment in
            PageValue.members([
                "name": .text(speaker.word(of: "environment", environment.rawValue)),
                // Named in either case: a link stays in the environment that the page shows.
                "href": .text(speaker.link(place.with("environment", environment.rawValue).with("after", nil))),
                "isCurrent": .flag(environment.rawValue == speaker.environment),
            ])
        }
        return .members([
            "name": .text(visitor.name), "role": .text(speaker.word(of: "role", visitor.member.role.rawValue)),
            "search": .text(speaker.link(Place("search"))), "leave": .text(speaker.prefix + Place("logout").path),
            "canLeave": .flag(isByLogin), "environments": .list(environments),
        ])
    }

    private func link(to section: Section, isCurrent: Bool, _ speaker: Speaker) -> PageValue {
        .members([
            "name": .text(speaker.word(of: "section", section.rawValue)), "href": .text(speaker.link(section.place)),
            "isCurrent": .flag(isCurrent),
        ])
    }

    /// - Parameter times: what the answers that the page shows are of.
    private func instant(
        _ instant: Timestamp, _ times: Set<CallRecord.Time>, at place: Place, _ speaker: Speaker
    ) -> PageValue {
        var now = speaker
        now.instant = nil
        let word =
            times.contains(.then) ? times.contains(.now) ? "at_partly" : "at_instant" : "at_unheeded"
        return .members([
            "text": .text(speaker.word(word, ["time": speaker.time(instant)])),
            "now": .text(now.link(place.with("at", nil))),
        ])
    }
}
