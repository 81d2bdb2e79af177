import AccountStore
import Base
import ConsolePages
import HTTPKit
import NIOHTTP1
import Postgres
import Staff
import TestSupport
import Testing

/// The way in and out.
@Suite("The login")
struct LoginTests {
    @Test("lets in who knows the password, and leads to where they were going; everybody else sees the login alone")
    func login() async throws {
        try await withPages { pages in
            try await pages.member(.viewer, mail: "kim@example.com")
            let browser = Browser(pages)
            for path in ["/", "/orders", "/audit", "/customers/\(Shop.token(1))"] {
                let sent = try await browser.get(path)
                #expect(sent.status == 303 && sent.location?.hasPrefix("/login") == true, "\(path): \(sent.status)")
                #expect(!sent.body.contains("person"))
            }
            #expect(
                try await browser.get("/orders?status=refunded").location == "/login?next=%2Forders%3Fstatus%3Drefunded"
            )
            let form = try await browser.get("/login?next=%2Forders")
            expectWhole(form, "login")
            for (mail, password) in [
                ("kim@example.com", "wrong horse battery"), ("sam@example.com", RunningPages.password),
                ("kim@example.com", ""), ("", RunningPages.password), ("kim", "x"),
                ("kim@example.com", String(repeating: "a", count: 60_000)),
            ] {
                let refused = try await browser.post("/login", ["mail": mail, "password": password])
                #expect(refused.status == 401, "\(mail): \(refused.status)")
                expectWhole(refused, mail)
                #expect(!refused.body.contains("wrong horse") && browser.cookies["storehook-plain"] == nil)
            }
            let done = try await browser.post(
                "/login", ["mail": "KIM@example.com", "password": RunningPages.password, "next": "/orders"])
            #expect(done.status == 303 && done.location == "/orders", "\(done.body)")
            let page = try await browser.get("/orders")
            expectWhole(page, "orders")
            #expect(page.status == 200 && page.body.contains("kim@example.com"))
            // Who is in already has no need of the form.
            #expect(try await browser.get("/login").location == "/")
            #expect(try await browser.post("/logout").status == 303)
            #expect(browser.cookies["storehook-plain"] == nil)
            #expect(try await browser.get("/orders").status == 303)
        }
    }

    @Test("leads nowhere but to the console's own pages")
    func next() async throws {
        try await withPages { pages in
            try await pages.member(.viewer, mail: "kim@example.com")
            for next in [
                "https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a b",
                "/a\r\nX: y",
            ] {
                let browser = Browser(pages)
                _ = try await browser.get("/login")
                let done = try await browser.post(
                    "/login", ["mail": "kim@example.com", "password": RunningPages.password, "next": next])
                #expect(done.status == 303 && done.location == "/", "\(next): \(done.location ?? "-")")
            }
        }
    }

    @Test("marks cookies as they have to be: over TLS with __Host- and Secure, on plain HTTP with another name")
    func cookies() async throws {
        for isSecure in [false, true] {
            try await withPages(isSecure: isSecure) { pages in
                try await pages.member(.viewer, mail: "kim@example.com")
                let browser = Browser(pages)
                let done = try await browser.logIn("kim@example.com")
                let name = isSecure ? "__Host-storehook" : "storehook-plain"
                let cookie = try #require(done.cookies.first { $0.hasPrefix("\(name)=") })
                for attribute in ["Path=/", "HttpOnly", "SameSite=Strict"] {
                    #expect(cookie.contains("; \(attribute)"), "\(cookie)")
                }
                #expect(cookie.contains("; Secure") == isSecure && !cookie.contains("Domain"), "\(cookie)")
                #expect(try await browser.get("/orders").status == 200)
                // The other kind's name counts for nothing.
                let secret = try #require(browser.cookies[name])
                let stranger = Browser(pages)
                stranger.cookies = [isSecure ? "storehook-plain" : "__Host-storehook": secret]
                #expect(try await stranger.get("/orders").status == 303)
                // Nor does a second one beside it.
                let doubled = try await Browser(pages).send(
                    "GET", "/orders", nil, [("Cookie", "\(name)=\(secret); \(name)=\(secret)x")])
                #expect(doubled.status == 303)
            }
        }
    }

    @Test("makes another session each time, and ends the one that the browser had: none can be planted")
    func fixation() async throws {
        try await withPages { pages in
            try await pages.member(.viewer, mail: "kim@example.com")
            try await pages.member(.viewer, mail: "mallory@example.com")
            let mallory = Browser(pages)
            _ = try await mallory.logIn("mallory@example.com")
            let planted = try #require(mallory.cookies["storehook-plain"])
            let victim = Browser(pages)
            _ = try await victim.get("/login")
            for secret in [planted, SessionSecret().text, "shs_x"] {
                victim.cookies["storehook-plain"] = secret
                _ = try await victim.post("/logout")
                victim.cookies["storehook-plain"] = secret
                // Where the planted one is a session, its own pages have the token.
                _ = try await victim.get("/")
                _ = try await victim.get("/login")
                _ = try await victim.post(
                    "/login", ["mail": "kim@example.com", "password": RunningPages.password])
                let own = try #require(victim.cookies["storehook-plain"])
                #expect(own != secret)
                #expect(try await victim.get("/orders").body.contains("kim@example.com"))
                let other = Browser(pages)
                other.cookies = ["storehook-plain": secret]
                #expect(!(try await other.get("/orders").body.contains("kim@example.com")))
            }
        }
    }

    @Test("ends with another password, with the membership, after an hour without a request, and after twelve hours")
    func ends() async throws {
        try await withPages { pages in
            func expectOut(_ browser: Browser, _ what: String) async throws {
                #expect(try await browser.get("/orders").status == 303, "\(what)")
            }
            let first = try await pages.browser(.viewer, mail: "kim@example.com")
            #expect(try await first.get("/orders").status == 200)
            try await pages.setPassword("another long password", of: "kim@example.com")
            try await expectOut(first, "another password")
            let second = Browser(pages)
            _ = try await second.logIn("kim@example.com", "another long password")
            try await pages.observer.query(
                "update storehook.console_sessions set begun_at = now() - interval '3 hours', seen_at = now() - interval '61 minutes'"
            )
            try await expectOut(second, "idle")
            let third = Browser(pages)
            _ = try await third.logIn("kim@example.com", "another long password")
            try await pages.observer.query(
                "update storehook.console_sessions set begun_at = now() - interval '12 hours 1 minute'")
            try await expectOut(third, "old")
            let fourth = Browser(pages)
            _ = try await fourth.logIn("kim@example.com", "another long password")
            #expect(try await fourth.get("/orders").status == 200)
            _ = try await pages.staff.remove("kim@example.com", by: "cli:test")
            try await expectOut(fourth, "removed")
            let left = try await pages.observer.query("select count(*) from storehook.console_sessions").one()
            #expect(try left.decode(0) == Int64(0))
        }
    }

    @Test("over plain HTTP is for this machine alone: not behind a proxy, and not under another name")
    func plain() async throws {
        try await withPages { pages in
            let browser = try await pages.browser(.admin)
            for header in [
                ("X-Forwarded-For", "192.0.2.7"), ("Forwarded", "for=192.0.2.7"), ("Via", "1.1 proxy"),
                ("Host", "desk.example.com"), ("Host", "localhost.evil.example:8082"),
            ] {
                for path in ["/", "/login", "/orders"] {
                    let refused = try await browser.get(path, [header])
                    #expect(refused.status == 403, "\(header) \(path): \(refused.status)")
                    #expect(!refused.body.contains("name=\"password\""))
                }
                #expect(try await browser.get("/admin/orders", [header]).status == 401, "\(header)")
            }
            #expect(try await browser.get("/orders", [("Host", "localhost:\(pages.port)")]).status == 200)
            #expect(try await browser.get("/orders", [("Host", "[::1]:\(pages.port)")]).status == 200)
        }
    }

    @Test("asks once more where another site led here: the browser had kept the cookie back")
    func fromElsewhere() async throws {
        try await withPages { pages in
            try await pages.member(.viewer, mail: "kim@example.com")
            let stranger = Browser(pages)
            let page = try await stranger.get("/orders", [("Sec-Fetch-Site", "cross-site")])
            #expect(page.status == 200 && page.body.contains(#"<meta http-equiv="refresh" content="0">"#))
            expectWhole(page, "one moment")
            #expect(try await stranger.get("/orders").status == 303)
        }
    }

    @Test("limits an address, and an address with an account, and locks nobody else out")
    func limits() async throws {
        try await withPages(isSecure: true, pages: { $0.loginsPerMinute = 12 }) { pages in
            try await pages.member(.viewer, mail: "kim@example.com")
            let attacker = [("X-Forwarded-For", "198.51.100.1")]
            let browser = Browser(pages)
            var statuses: [Int] = []
            for _ in 0..<14 {
                statuses.append(try await browser.logIn("kim@example.com", "wrong horse battery", attacker).status)
            }
            #expect(
                statuses.prefix(6).allSatisfy { $0 == 401 } && statuses.suffix(7).allSatisfy { $0 == 429 },
                "\(statuses)")
            // With the right password, too: what is limited tells nothing.
            let limited = try await browser.logIn("kim@example.com", RunningPages.password, attacker)
            #expect(limited.status == 429)
            expectWhole(limited, "limited")
            let honest = Browser(pages)
            let there = [("X-Forwarded-For", "203.0.113.9")]
            #expect(try await honest.logIn("kim@example.com", RunningPages.password, there).status == 303)
        }
    }

    @Test("under a flood works out one hash at a time, refuses what does not fit, and pages are answered meanwhile")
    func flood() async throws {
        try await withPages(isSecure: true) { pages in
            let member = try await pages.browser(.viewer, mail: "kim@example.com")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        // A login to an unknown account takes as long as one to a known account.
                        let there = [("X-Forwarded-For", "198.51.100.\(number)")]
                        let mail = "nobody\(number)@example.com"
                        return try await Browser(pages).logIn(mail, "wrong horse battery", there).status
                    }
                }
                for _ in 0..<10 {
                    let status = try await member.get("/orders").status
                    #expect(status == 200)
                }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(statuses[503, default: 0] > 0, "\(statuses)")
            #expect(statuses[401, default: 0] + statuses[503, default: 0] == 60, "\(statuses)")
            // Who was here before, from the same address, is let in.
            #expect(try await Browser(pages).logIn("kim@example.com").status == 303)
        }
    }

    @Test("answers the same whether an address is known, has a password, or not")
    func sameAnswer() async throws {
        try await withPages { pages in
            try await pages.member(.viewer, mail: "kim@example.com")
            _ = try await pages.staff.add("sam@example.com", as: .viewer, of: nil, by: "cli:test")
            var bodies: Set<String> = []
            for mail in ["kim@example.com", "sam@example.com", "nobody@example.com"] {
                let answer = try await Browser(pages).logIn(mail, "wrong horse battery")
                #expect(answer.status == 401)
                let body = answer.body.replacing(mail, with: "-").replacing(/value="[A-Za-z0-9_-]{43}"/, with: "")
                bodies.insert(body.replacing(/\d\d:\d\d:\d\d/, with: ""))
            }
            #expect(bodies.count == 1)
        }
    }

    @Test("keeps no password and no secret where they could be read")
    func secrets() async throws {
        try await withPages { pages in
            let browser = try await pages.browser(.admin)
            let secret = try #require(browser.cookies["storehook-plain"])
            let rows = try await pages.observer.query(
                """
                select p::text || s::text from storehook.staff_passwords p join storehook.console_sessions s using (member_id)
                """
            ).map { try $0.decode(0, as: String.self) }
            #expect(rows.count == 1 && !rows[0].contains(RunningPages.password) && !rows[0].contains(secret))
            for path in ["/", "/audit", "/staff"] {
                let page = try await browser.get(path)
                #expect(!page.body.contains(secret) && !page.body.contains("scrypt$"))
            }
        }
    }
}

/// Passwords, and what working out their hashes costs.
@Suite("Passwords")
struct PasswordTests {
    @Test("have a hash that is theirs alone, in a form that is read again")
    func hashes() throws {
        let password = try StaffPassword(new: "correct horse battery", of: "kim@example.com")
        let hash = try PasswordHash(of: password, cost: RunningPages.cost)
        #expect(hash.matches(password))
        let read = try #require(PasswordHash(hash.text))
        #expect(read == hash && read.matches(password))
        #expect(try PasswordHash(of: password, cost: RunningPages.cost).text != hash.text)
        for other in ["Correct horse battery", "correct horse battery ", "x"] {
            let typed = try #require(StaffPassword(typed: other))
            #expect(!hash.matches(typed))
        }
        // The same characters, typed otherwise.
        let composed = try StaffPassword(new: "caf\u{E9} caf\u{E9} cr\u{E8}me", of: "kim@example.com")
        let decomposed = try #require(StaffPassword(typed: "cafe\u{301} cafe\u{301} cre\u{300}me"))
        #expect(try PasswordHash(of: composed, cost: RunningPages.cost).matches(decomposed))
        for text in [
            "", "$scrypt$ln=4,r=8,p=1$",
            "$scrypt$ln=40,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$" + String(repeating: "A", count: 43),
            hash.text + "A", "$argon2$" + hash.text.dropFirst(8),
        ] {
            #expect(PasswordHash(text) == nil, "\(text)")
        }
        #expect("\(hash)" == "scrypt …" && "\(password)" == "…")
    }

    @Test("are refused where they are short, long, plain, or what no keyboard sends")
    func rules() {
        for (text, fault) in [
            ("short", StaffPassword.Fault.short), (String(repeating: "ab", count: 65), .long),
            ("aaaaaaaaaaaaaaaa", .plain), ("Kim@Example.com", .plain), ("with a line\nend in it", .unseen),
        ] {
            #expect(throws: fault) { try StaffPassword(new: text, of: "kim@example.com") }
        }
        #expect(StaffPassword(typed: "") == nil && StaffPassword(typed: String(repeating: "a", count: 513)) == nil)
        let made = (0..<100).map { _ in StaffPassword.random().text }
        #expect(Set(made).count == 100 && made.allSatisfy { $0.count == 23 })
    }
}
