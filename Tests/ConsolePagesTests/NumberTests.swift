import AppStorePayloads
import Base
import Figures
import Foundation
import NIOHTTP1
import TestSupport
import Testing

@testable import ConsolePages

/// What pages show, held against what the admin API answers for the same instant.
@Suite("Numbers of pages")
struct NumberTests {
    /// As a reader without any choice of their own reads.
    private let speaker: Speaker

    init() throws {
        speaker = Speaker(
            words: try Words(try Templates().files), language: .english, zone: PageView.utc, prefix: "",
            environment: "Production", instant: nil)
    }

    /// What a page shows as a number, and where.
    private struct Number: Hashable {
        let text: String
        let place: String
    }

    /// The numbers in the tables and facts of a page.
    private static func numbers(in page: String) -> Set<Number> {
        let facts = page.matches(of: /<dt>([^<]*)<\/dt><dd>([\s\S]*?)<\/dd>/).map { ($0.output.1, $0.output.2) }
        let cells = page.matches(of: /<td data-label="([^"]*)" class="number[^"]*">([\s\S]*?)<\/td>/).map {
            ($0.output.1, $0.output.2)
        }
        var numbers: Set<Number> = []
        for (place, shown) in facts + cells {
            for text in shown.split(separator: /<[^>]*>/) where isNumber(text) {
                numbers.insert(Number(text: String(text), place: String(place)))
            }
        }
        return numbers
    }

    /// `12`, `-1,234`, `12.3 %`, `€9.99`, `CHF 5.00`: no other word, and no instant.
    private static func isNumber(_ text: Substring) -> Bool {
        text.wholeMatch(of: /-?(?:[A-Z]{0,3}[^\w\s,.–\-]{1,2}|[A-Z]{3}\u{A0})?[0-9][0-9,]*(?:\.[0-9]+)?(?:\u{A0}%)?/)
            != nil
    }

    /// Each way in which a page may write what is in an answer: numbers as numbers, shares and amounts, and texts as they are.
    private func write(_ value: JSONValue, into texts: inout Set<String>) {
        switch value {
        case .integer(let number):
            texts.insert(speaker.number(number))
            texts.insert(speaker.share(number))
            for currency in ["EUR", ""] { texts.insert(speaker.money(number, currency)) }
        case .string(let text): texts.insert(text)
        case .array(let elements): for element in elements { write(element, into: &texts) }
        case .object(let members): for member in members { write(member.value, into: &texts) }
        case .null, .bool, .number, .written: break
        }
    }

    /// The calls at the foot of a page that read something.
    private static func calls(of page: String) -> [String] {
        page.matches(of: /<li><code>GET (\/admin\/[^<]*)<\/code>/).map {
            String($0.output.1).replacing("&amp;", with: "&")
        }
    }

    private static func hasInstant(_ call: String) -> Bool { call.contains("?at=") || call.contains("&at=") }

    @Test(
        "each page takes an instant and shows it, and its numbers are those of the calls at its foot for that instant")
    func instants() async throws {
        try await withPages { pages in
            let browser = try await pages.browser(.admin)
            _ = try await pages.fill(by: browser)
            try await pages.order(2, of: Shop.other, price: 1_234_560)
            try await pages.fillService(by: browser)
            try await pages.settle()
            let places = try await Self.places(pages, browser)
            let now = Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000)
            var heeding: Set<String> = []
            var compared = 0
            // Before everything, in the middle of both purchases, and now.
            for instant in [now.adding(days: -40), now.adding(days: -5), nil] {
                for path in places {
                    let at = instant.map { "\(path.contains("?") ? "&" : "?")at=\($0)" } ?? ""
                    let page = try await browser.get(path + at)
                    #expect(page.status == 200, "\(path)\(at): \(page.body)")
                    let calls = Self.calls(of: page.body)
                    if let instant {
                        expectShown(instant, page, path)
                        if calls.contains(where: { Self.hasInstant($0) }) { heeding.insert(path) }
                    }
                    var texts: Set<String> = []
                    for call in calls {
                        let answer = try await browser.get(call)
                        #expect(answer.status == 200, "\(path)\(at): \(call): \(answer.body)")
                        write(JSONValue(try JSONDocument(Array(answer.body.utf8)).root), into: &texts)
                    }
                    let numbers = Self.numbers(in: page.body)
                    compared += numbers.count
                    for number in numbers {
                        #expect(texts.contains(number.text), "\(path)\(at): \(number.place) \(number.text)")
                    }
                }
            }
            #expect(compared > 100, "this test reads pages wrongly")
            // What an account is has a past. Lists and counts are of now, and their pages say so.
            #expect(heeding.contains("/customers/\(Shop.token(1))"), "\(heeding)")
        }
    }

    /// Whether a page says which instant it shows, or that it has no past.
    private func expectShown(_ instant: Timestamp, _ page: PageAnswer, _ path: String) {
        let isHeeded = Self.calls(of: page.body).contains { Self.hasInstant($0) }
        let sentence = speaker.word(isHeeded ? "at_instant" : "at_unheeded", ["time": speaker.time(instant)])
        #expect(page.body.contains(sentence), "\(path): \(sentence)")
        #expect(page.body.contains(">\(speaker.word("at_now"))</a>"), "\(path)")
    }

    /// A page of each kind, as links lead to them, and all figures; without those of the login and without files.
    private static func places(_ pages: RunningPages, _ browser: Browser) async throws -> [String] {
        let found = try await browser.post("/search", ["text": "ORD-"])
        var open = ["/", try #require(found.location), "/customers/\(Shop.token(1))"]
        var seen = Set(open)
        var places: [String] = []
        var kinds: Set<String> = []
        while !open.isEmpty {
            let path = open.removeFirst()
            guard let kind = PageTests.page(of: path.prefix { $0 != "?" }), kinds.insert(kind.name).inserted else {
                continue
            }
            let answer = try await browser.get(path)
            guard answer.headers.first(name: "Content-Type")?.hasPrefix("text/html") == true else { continue }
            places.append(path)
            for link in HTMLJudge(answer.body).links where !link.contains("environment=") {
                if seen.insert(link).inserted { open.append(link) }
            }
        }
        #expect(places.count >= 25, "\(places)")
        return places + Figure.allCases.map { "/figures/\($0.rawValue)" }.filter { !places.contains($0) }
    }
}
