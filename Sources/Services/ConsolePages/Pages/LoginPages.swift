import APIKit
import AccountStore
import Base
import HTTPTypes
import Staff

/// The way in and out, and how the reader wants pages written.
struct LoginPages: Sendable {
    let visitors: Visitors
    let passwords: StaffPasswords
    let limits: LoginLimits
    let metrics: PageMetrics
    private let checks = PasswordChecks()

    init(visitors: Visitors, passwords: StaffPasswords, limits: LoginLimits, metrics: PageMetrics) {
        self.visitors = visitors
        self.passwords = passwords
        self.limits = limits
        self.metrics = metrics
    }

    /// The names of its pages.
    static let names: Set<String> = ["login", "log_in", "log_out", "view"]
    /// Their paths.
    static let paths: Set<String> = ["/login", "/logout", "/view"]

    var pages: [Page] {
        [
            Page.get("/login", "login", in: nil) { call in
                guard visitors.isByLogin, call.visitor == nil else { return .redirect(Place()) }
                return .page(form(call))
            }.forAnyone(),
            Page.post("/login", "log_in", in: nil) { try await logIn($0) }.forAnyone(),
            Page.post("/logout", "log_out", in: nil) { try await logOut($0) }.forAnyone(),
            Page.post("/view", "view", in: nil) { view($0) }.forAnyone(),
        ]
    }

    // MARK: In

    private func form(_ call: PageCall, _ problem: String? = nil, _ status: HTTPResponse.Status = .ok) -> PageContent {
        let speaker = call.speaker
        let next = Self.next(call.sent("next") ?? call.value("next"))
        var blocks: [Block] = problem.map { [.note($0, .bad)] } ?? []
        blocks.append(
            .form(
                PageForm(
                    about: speaker.word("login_about"), action: Place("login"), isPost: true,
                    fields: [
                        .init("mail", speaker.word("mail"), .mail, call.sent("mail"), isRequired: true),
                        .init(
                            "password", speaker.word("password"), .password(fills: "current-password"),
                            isRequired: true),
                    ], hidden: next.map { ["next": $0] } ?? [:], submit: speaker.word("login"), style: "login")))
        var content = PageContent(speaker.word("login"), blocks)
        content.status = status
        return content
    }

    private func logIn(_ call: PageCall) async throws -> PageOutcome {
        guard visitors.isByLogin else { return .redirect(Place()) }
        let speaker = call.speaker
        guard let mail = StaffMail(call.sent("mail") ?? ""),
            let password = StaffPassword(typed: call.form["password"] ?? "")
        else {
            metrics.login(.wrong)
            return .page(form(call, speaker.word("login_wrong"), .unauthorized))
        }
        if let rest = limits.refusal(of: mail.text, from: call.sender) {
            metrics.login(.limited)
            let minutes = "\(rest.components.seconds / 60 + 1)"
            return .page(form(call, speaker.word("login_limited", ["minutes": minutes]), .tooManyRequests))
        }
        let found = try await passwords.find(mail.text)
        do {
            // Always another secret than the browser had: an attacker who put that one there does not know this one.
            let secret = SessionSecret()
            guard try await checks.matches(password, found?.hash, from: call.sender), let found,
                try await visitors.sessions.begin(
                    secret, for: found.member.id, under: found.hash, after: call.visitor?.session)
            else {
                limits.failed(mail.text, from: call.sender)
                metrics.login(.wrong)
                return .page(form(call, speaker.word("login_wrong"), .unauthorized))
            }
            limits.succeeded(mail.text, from: call.sender)
            // So that the next page need not wait for it.
            try? await visitors.table.read()
            metrics.login(.done)
            let cookies = [
                visitors.cookies.setting(.session, to: secret.text), visitors.cookies.removing(.form),
            ]
            return .path(Self.next(call.sent("next")) ?? "/", cookies: cookies)
        } catch is PasswordChecks.Busy {
            metrics.login(.busy)
            return .page(form(call, speaker.word("login_busy"), .serviceUnavailable))
        }
    }

    // MARK: Out

    private func logOut(_ call: PageCall) async throws -> PageOutcome {
        if let session = call.visitor?.session { try await visitors.sessions.end(session) }
        return .redirect(Place("login"), cookies: [visitors.cookies.removing(.session)])
    }

    // MARK: How pages are written

    private func view(_ call: PageCall) -> PageOutcome {
        let zone = call.sent("zone").flatMap { ZonedTime.zone($0) } ?? call.speaker.zone
        let view = PageView(language: call.sent("language").flatMap { Language(rawValue: $0) }, zone: zone)
        return .path(
            Self.next(call.sent("place")) ?? "/", cookies: [visitors.cookies.setting(.view, to: view.text)])
    }

    /// A path of ours to go on to; nil for anything else, such as another host.
    static func next(_ text: String?) -> String? {
        guard let text, text.hasPrefix("/"), !text.hasPrefix("//"), text.utf8.count <= 2000,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"") })
        else { return nil }
        return text
    }
}
