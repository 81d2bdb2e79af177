import Foundation
import TestSupport
import Testing

/// What members of JSON are called, in what commands print and in what the account API answers: each name is made of these words.
@Suite("The names of JSON members")
struct MemberNameTests {
    private static let words = Set(
        """
        about accepted access account accounts acknowledged act active actor acts added additional after again age ages alert alg aliases all allowed
        amount anonymous another answer answered any api app apple application applied approved apps as asked at attempt attempted attempts auto
        basis bearer because before behind begun billing binding bindings body bought bound broken budget budgets bundle by bytes cancellation
        cancelled catalog category cause cells change changed changes check clock closed code column command commission commit complete
        completed components computed confirmed connections consent consents conservation const consumption content converted corrected
        correction count counted counters created creation crv currencies currency current cursor customer cut daily data date day days dead
        deadline decided decider delivered deliveries delivery depth description detail difference digest discarded discount display document
        done doubled dropped dry due duplicate duration effective eligibility eligible elsewhere emo ended endpoint endpoints ends entitlement
        entitlements enum environment environments erased error estimate event events evidence examples expiration expired expires expiring
        explained exported failed failing failure failures family fault feature features feed fields figure file files filter findings
        fingerprint first fiscal flight flow for forgotten format former found free freed from get gives gone grace granted group h has hash header
        headers heard held here histories history host id idempotency identifier ids if imported in included increase index info intent intro
        introductory is issuer item items job jobs kept key keys kid kind kinds known language last lasts late learned leave left length letter
        letters limit limits line lines link list listed login m made mail max maximum measure member members message milliseconds min
        minimum minute missing month months more moves ms name named names new newest next no not note notes nothing notification notifications number
        of offer oldest on one open openapi operation order original other outbox outcome owned owner ownership page paid parameters parked
        part partial partner password paths pattern paused payload pending per percentage period place plan platform popular port post
        posted preference previous price private problem processed product production products profile prompt proof properties property
        proven provided purchase purchased purchases put quantity queued rate rates ratio readmigo reason reasons receipt received recent
        record recorded recovered reference refreshed refreshes refund refundable refunded refunds refusal refused release remaining
        removed renew renewal renews replay replayed report reporting request requested requester requests required resent resets
        resolution resolved responses restore restored restriction result results retry reversals reversed revision revocation revoked
        role root rows rule rules run running s sample sandbox schema schemas scheme schemes searches second seconds secret security seed send sent
        sequence served server set settled severity share shared shares signed since skipped soon sort source speed split standing start started
        starts state status step still stopped stored storefront storefronts subject subscribers subscription subscriptions subtype succeeded success summary
        tax test text texts then tier tiers time timeline timestamp title tls to token tokens told tolerance took total totals transaction
        transactions transferred transient trial trials trouble type types unasked unavailable uncovered under unheard unit units unknown
        unlimited unpriced unproven unreleased unserved unsigned unsold until up updated upgrade upgraded url usage use used users uuid uuids
        valid value verdict verified verify version void wait waiting warning way web webhook webhooks what why will windows with without
        words write y zone
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    /// Where shapes and answers are written down.
    private static let folders = [
        "Services/Operations", "Services/AccountAPI", "Services/APIKit", "Domain/Accounts/View", "Domain/Events",
        "Programs/storehook",
    ]

    @Test("are made of known words, in snake case or camel case")
    func known() throws {
        var names = try Self.answered()
        #expect(names.count >= 300, "this test reads outputs wrongly")
        names.formUnion(try Self.written())
        #expect(names.count >= 450, "this test reads sources wrongly")
        for name in names.sorted() {
            let strange = Self.words(of: name).filter { !Self.words.contains($0) }
            #expect(strange.isEmpty, "\(name): is it spelled as it should be? Then its words belong into this list")
        }
    }

    @Test("are taken apart at underscores, at capitals and behind acronyms")
    func parts() {
        #expect(Self.words(of: "missing_uui_ds") == ["missing", "uui", "ds"])
        #expect(Self.words(of: "notificationUUID") == ["notification", "uuid"])
        #expect(Self.words(of: "originalTransactionIds") == ["original", "transaction", "ids"])
    }

    /// In what the golden outputs show.
    private static func answered() throws -> Set<String> {
        let folder = packageRoot.appending(path: "Tests/ProgramTests/Golden/outputs")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).reduce(into: []) { names, file in
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            names.formUnion(text.matches(of: /"([A-Za-z][A-Za-z0-9_]*)": ?["\[{0-9tfn-]/).map { String($0.output.1) })
        }
    }

    /// In the sources, also of what no golden output shows.
    private static func written() throws -> Set<String> {
        var names: Set<String> = []
        for folder in folders {
            let url = packageRoot.appending(path: "Sources/\(folder)")
            for file in try FileManager.default.subpathsOfDirectory(atPath: url.path) where file.hasSuffix(".swift") {
                let text = try String(contentsOf: url.appending(path: file), encoding: .utf8)
                let shape = /\.(?:init|list|nested|required|optional)\(\s*"([A-Za-z0-9_]+)"\s*[,)]/
                let literal = /[\[,]\s*"([a-z][A-Za-z0-9_]*)"\s*:/
                names.formUnion(text.matches(of: shape).map { String($0.output.1) })
                names.formUnion(text.matches(of: literal).map { String($0.output.1) })
            }
        }
        return names
    }

    private static func words(of name: String) -> [String] {
        name.split(separator: "_").flatMap { part in
            part.matches(of: /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/).map { $0.output.lowercased() }
        }
    }
}
