import AppStorePayloads
import Base
import Figures
import Foundation
import NIOHTTP1
import Staff
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
            try await pages.age(days: 10)
            let now = Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000)
            let first = now.adding(days: -40)
            var words: [String: Set<String>] = [:]
            var compared = 0
            // Before everything, in the middle of both purchases, and now.
            for instant in [first, now.adding(days: -5), nil] {
                for path in places {
                    let at = instant.map { "\(path.contains("?") ? "&" : "?")at=\($0)" } ?? ""
                    let page = try await browser.get(path + at)
                    let name = try #require(PageTests.page(of: path.prefix { $0 != "?" })).name
                    let isThere = instant != first || !Self.ofOne.contains(name)
                    #expect(page.status == (isThere ? 200 : 404), "\(path)\(at): \(page.body)")
                    guard isThere else { continue }
                    let calls = Self.calls(of: page.body)
                    if let instant { words[name, default: []].insert(expectShown(instant, page, path)) }
                    var texts: Set<String> = []
                    for call in calls {
                        let answer = try await browser.get(call)
                        // Before the first catalog there was none.
                        let isNone = instant == first && call.hasPrefix("/admin/catalog")
                        #expect(answer.status == (isNone ? 409 : 200), "\(path)\(at): \(call): \(answer.body)")
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
            for name in Self.heeding { #expect(words[name] == ["at_instant"], "\(name): \(words[name] ?? [])") }
            #expect(words["endpoint"] == ["at_partly"], "an endpoint is as it is; its deliveries have a past")
            for name in ["due", "health"] { #expect(words[name] == ["at_unheeded"], "\(name)") }
        }
    }

    /// The pages that have a past in every part.
    private static let heeding: Set = [
        "overview", "customer", "orders", "order", "audit", "notes", "consumption", "refunds", "refund", "extensions",
        "extension", "jobs", "job", "deliveries", "delivery", "letters", "letter", "figure", "figure_rows",
        "figure_users", "figure_usage", "catalog",
    ]
    /// The pages of one thing, which was not there before it was made.
    private static let ofOne: Set = ["order", "refund", "extension", "job", "delivery", "letter"]

    /// Whether a page says which instant it shows, or that it has no past, or only in part.
    /// - Returns: the key of the sentence.
    private func expectShown(_ instant: Timestamp, _ page: PageAnswer, _ path: String) -> String {
        // What the staff keeps for itself has no time.
        let calls = Self.calls(of: page.body).filter { !$0.hasPrefix("/admin/filters") }
        let isHeeded = calls.contains { Self.hasInstant($0) }
        let isWhole = calls.allSatisfy { Self.hasInstant($0) }
        let word = isHeeded ? isWhole ? "at_instant" : "at_partly" : "at_unheeded"
        let sentence = speaker.word(word, ["time": speaker.time(instant)])
        #expect(page.body.contains(sentence), "\(path): \(sentence)")
        #expect(page.body.contains(">\(speaker.word("at_now"))</a>"), "\(path)")
        return word
    }

    @Test("a page of the past has the rows that had been made by then, and no others")
    func rows() async throws {
        try await withPages { pages in
            let browser = try await pages.browser(.admin)
            _ = try await pages.fill(by: browser)
            try await pages.fillService(by: browser)
            try await pages.age(days: 10)
            let now = Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000)
            for path in [
                "/orders", "/notes", "/consumption-requests", "/refund-requests", "/extensions", "/jobs", "/deliveries",
                "/dead-letters", "/audit",
            ] {
                // What is in the audit was done now.
                for (days, isThere) in [(-40, false), (-5, path != "/audit")] as [(Int64, Bool)] {
                    let page = try await browser.get("\(path)?at=\(now.adding(days: days))")
                    #expect(page.status == 200, "\(path): \(page.body)")
                    #expect(page.body.contains("<td ") == isThere, "\(path), \(days): \(page.body)")
                }
            }
            #expect(try await browser.get("/audit").body.contains("<td "))
        }
    }

    /// A page of each kind, as links lead to them, and all figures; without those of the login and without files.
    private static func places(_ pages: RunningPages, _ browser: Browser) async throws -> [String] {
        let found = try await browser.post("/search", ["text": "ORD-"])
        var open = ["/figures/gross", "/", try #require(found.location), "/customers/\(Shop.token(1))"]
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
            for link in HTMLJudge(answer.body).links where !link.contains("environment=Sandbox") {
                if seen.insert(link).inserted { open.append(link) }
            }
        }
        #expect(places.count >= 25, "\(places)")
        return places + Figure.allCases.map { "/figures/\($0.rawValue)" }.filter { !places.contains($0) }
    }
}
