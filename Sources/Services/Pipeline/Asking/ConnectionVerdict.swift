import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
package import Base
import EvidenceStore
package import Postgres

/// What a test notification has shown of the way from Apple to an applied notification: that it is whole, or which link is broken.
///
///     key ──▶ Apple ──▶ URL, TLS, proxy ──▶ receiver ──▶ worker ──▶ apps, environments and roots that it serves
package struct ConnectionVerdict: Sendable, Hashable {
    /// What may be broken. The raw values are for programs, and stay.
    package enum Link: String, Sendable, CaseIterable {
        /// This machine's clock.
        case clock
        /// The In-App Purchase key.
        case key
        /// An app that Apple or a worker does not know.
        case app
        /// An environment in which the app has no release, or which workers do not serve.
        case environment
        /// The way from here to Apple, or Apple itself.
        case apple
        /// The URL in App Store Connect.
        case url
        /// The certificate or the TLS version at the URL.
        case tls
        /// What stands before the receiver.
        case proxy
        /// The receiver.
        case receiver
        /// The workers.
        case worker
        /// The roots that are trusted.
        case roots
        /// The database.
        case database
    }

    /// What stands at the URL that the operator named, asked by a GET from here.
    package enum URLAnswer: Sendable, Hashable {
        /// A receiver of storehook answers.
        case receiver
        /// Something answers otherwise, with this status.
        case status(Int)
        /// TLS fails.
        case tls
        /// Nothing answers.
        case silence
    }

    /// The broken link; nil where none is, or where it is not known which.
    package var link: Link?
    /// Whether it did not come through, and something is to be done.
    package var isFault: Bool
    /// One sentence, which begins with the link: what is wrong, and what to do.
    package var sentence: String

    private init(_ link: Link?, _ sentence: String, isFault: Bool? = nil) {
        self.link = link
        self.isFault = isFault ?? (link != nil)
        self.sentence = (link.map { "\($0.rawValue): " } ?? "") + sentence
    }

    /// From so much on a clock is wrong. Apple takes a token that is issued up to a minute ahead of its clock.
    private static let clockTolerance = Duration.seconds(60)

    /// What a test notification that was followed has shown.
    /// - Parameter url: the URL that the operator takes for the one in App Store Connect, and what answers there; nil where none was named.
    package init(_ way: TestNotificationTrial.Way, url: (text: String, answer: URLAnswer)? = nil) {
        if let ahead = way.clockAhead, let wrong = Self.clock(ahead) {
            self = wrong
        } else if let arrival = way.arrival, arrival.place != .recovered {
            self = Self.arrived(way, arrival)
        } else if case .stored(let post) = way.waiting {
            // It is here, whatever Apple says of the answer, and whether or not it says anything yet.
            self = Self.waiting(post, Self.ofTheAnswer(way))
        } else if let result = way.result, result != .success {
            self = Self.undelivered(result, url)
            if way.arrival != nil { sentence += "; it was fetched from Apple's history" }
        } else if let arrival = way.arrival {
            self = Self.arrived(way, arrival)
        } else if way.status == nil || way.status?.sendAttempts.isEmpty == true {
            self.init(
                .apple,
                "Apple has taken the request, and has not posted the notification yet: ask again in a minute, storehook apple test "
                    + "--token \(way.token)")
        } else {
            self = Self.delivered(way, url)
        }
    }

    /// What is to be added of a post that is here, where Apple does not count it as delivered; empty where it does.
    private static func ofTheAnswer(_ way: TestNotificationTrial.Way) -> String {
        way.result.flatMap { $0 == .success ? nil : ", and Apple says \($0.rawValue) of the answer" } ?? ""
    }

    /// - Parameter ahead: this machine's clock minus Apple's.
    private static func clock(_ ahead: Duration) -> ConnectionVerdict? {
        guard max(ahead, .zero - ahead) >= clockTolerance else { return nil }
        let seconds = Int(max(ahead, .zero - ahead) / .seconds(1))
        return ConnectionVerdict(
            .clock,
            "this machine's is \(seconds) s \(ahead > .zero ? "ahead of" : "behind") Apple's, which refuses tokens of another time: let "
                + "this machine keep time by NTP")
    }

    private static func arrived(
        _ way: TestNotificationTrial.Way, _ arrival: CanaryArrival
    ) -> ConnectionVerdict {
        switch arrival.place {
        case .applied:
            var parts: [String] = []
            func add(_ what: String, _ at: Timestamp?) {
                guard let at, let asked = way.askedAt else { return }
                parts.append("\(what) after \(String(Double(max(0, at.milliseconds(since: asked))) / 1000)) s")
            }
            add("posted", way.postedAt)
            add("stored", arrival.storedAt.map(Timestamp.init))
            add("applied", arrival.appliedAt.map(Timestamp.init))
            return ConnectionVerdict(
                nil,
                "Apple's test notification came through" + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
                    + ofTheAnswer(way))
        case .recovered:
            return ConnectionVerdict(
                .url,
                "Apple's post did not come here, and was fetched from Apple's history: see that the URL in App Store Connect is this "
                    + "receiver's")
        case .dead: return dead(way.deadReason)
        }
    }

    /// What a dead letter says by its reason.
    private static func dead(_ reason: String?) -> ConnectionVerdict {
        guard let reason else {
            return ConnectionVerdict(
                .database,
                "the notification came, and is a dead letter, whose reason this user may not read: run sql/roles.sql again, and see "
                    + "storehook dead-letters list --type TEST as an operator")
        }
        let letter = "the notification came, and is a dead letter (\(reason))"
        switch reason {
        case VerificationCode.wrongBundle.rawValue, VerificationCode.wrongAppAppleId.rawValue:
            return ConnectionVerdict(
                .app,
                "\(letter): the workers do not serve this app as App Store Connect has it; put bundle id and App Apple ID into "
                    + "their STOREHOOK_APPS, restart them, and storehook dead-letters replay")
        case VerificationCode.wrongEnvironment.rawValue:
            return ConnectionVerdict(
                .environment,
                "\(letter): the workers do not serve it; add it to their STOREHOOK_ENVIRONMENTS, restart them, and "
                    + "storehook dead-letters replay, or take the URL out of App Store Connect")
        case VerificationCode.certificateNotValidAt.rawValue, VerificationCode.signedInFuture.rawValue:
            return ConnectionVerdict(
                .clock,
                "\(letter): by a worker's clock Apple signed it at another time; let the workers' machines keep time by NTP"
            )
        case VerificationCode.untrustedRoot.rawValue, VerificationCode.invalidChain.rawValue,
            VerificationCode.missingMarkerOID.rawValue:
            return ConnectionVerdict(
                .roots,
                "\(letter): the workers do not trust who signed it; see STOREHOOK_TRUSTED_ROOTS, which is unset for Apple"
            )
        default:
            return ConnectionVerdict(.worker, "\(letter): storehook dead-letters list --type TEST")
        }
    }

    /// What it means that Apple could not deliver, by Apple's word and what is seen from here.
    /// - Parameter url: as in ``init(_:url:)``.
    package static func undelivered(
        _ result: SendAttempt.Result, _ url: (text: String, answer: URLAnswer)?
    ) -> ConnectionVerdict {
        let says = "Apple could not deliver (\(result.rawValue))"
        let answered: Set<SendAttempt.Result> = [
            .unsuccessfulHTTPResponseCode, .unsupportedCharset, .invalidResponse, .circularRedirect,
        ]
        // What is seen from here decides where it does not contradict what Apple saw.
        var isThere: String?
        var besides = ""
        if let url {
            switch url.answer {
            case .status(let status) where result != .tlsIssue:
                return ConnectionVerdict(
                    .proxy,
                    "\(says), and \(url.text) answers \(status), not as a receiver of storehook does: let what stands there hand the "
                        + "path on to the receiver, unchanged and for any sender")
            case .tls where !answered.contains(result):
                return ConnectionVerdict(
                    .tls,
                    "\(says), and TLS fails at \(url.text) from here, too: a certificate of a public authority, the whole chain, the "
                        + "URL's name, and TLS 1.2 or later are needed")
            case .silence where [.timedOut, .noResponse, .socketIssue].contains(result):
                return ConnectionVerdict(
                    .receiver,
                    "\(says), and nothing answers at \(url.text) from here, either: start storehook receive, or what stands before it"
                )
            case .receiver: isThere = "a receiver answers at \(url.text) from here"
            case .status(let status): besides = "; \(url.text) answers \(status) from here"
            case .tls: besides = "; TLS fails at \(url.text) from here"
            case .silence: besides = "; nothing answers at \(url.text) from here"
            }
        }
        var verdict = blamed(result, says, isThere)
        verdict.sentence += besides
        return verdict
    }

    /// What Apple's word for its attempt means by itself.
    /// - Parameter isThere: that a receiver answers from here; nil where that is not known.
    private static func blamed(_ result: SendAttempt.Result, _ says: String, _ isThere: String?) -> ConnectionVerdict {
        let there = "what stands at the URL in App Store Connect"
        let look = "curl -i URL must answer 405, POST only; name it with --url"
        switch result {
        case .tlsIssue:
            return ConnectionVerdict(
                .tls,
                "\(says): \(there) needs a certificate of a public authority with its whole chain, for the URL's name, and TLS "
                    + "1.2 or later; openssl s_client -connect HOST:443 -servername HOST shows it")
        case .circularRedirect:
            return ConnectionVerdict(.proxy, "\(says): \(there) redirects in a circle; enter the URL that it ends at")
        case .unsuccessfulHTTPResponseCode:
            return ConnectionVerdict(
                .url,
                isThere.map {
                    "\(says), while \($0): App Store Connect has another URL, or the receiver answers 503 because its database is away"
                }
                    ?? "\(says): \(there) answers with an error, because the path is wrong, a proxy does not hand it on, or the receiver "
                    + "has no database; \(look)")
        case .unsupportedCharset, .invalidResponse:
            return ConnectionVerdict(
                .proxy, "\(says): \(there) answers with what is no answer of storehook's receiver; \(look)")
        case .timedOut, .noResponse, .socketIssue, .prematureClose:
            return ConnectionVerdict(
                .receiver,
                isThere.map {
                    "\(says), while \($0): a firewall lets this machine in and not Apple (17.0.0.0/8), or App Store Connect has "
                        + "another URL"
                }
                    ?? "\(says): nothing answers in time at the URL in App Store Connect; see that storehook receive runs, that what "
                    + "stands before it reaches it, and that a firewall lets Apple in (17.0.0.0/8)")
        default:
            return ConnectionVerdict(
                .url,
                "\(says): \(isThere.map { "\($0); " } ?? "")look at the URL in App Store Connect, and at what stands before the "
                    + "receiver")
        }
    }

    /// What it means that Apple was answered with success, and the notification is not applied.
    private static func delivered(
        _ way: TestNotificationTrial.Way, _ url: (text: String, answer: URLAnswer)?
    ) -> ConnectionVerdict {
        guard way.isLookedFor else {
            return ConnectionVerdict(
                nil, "Apple's post was answered with success; whether it came here is seen with DATABASE_URL alone")
        }
        switch way.waiting {
        case .stored(let post): return waiting(post, ofTheAnswer(way))
        case .nowhere:
            let seen: String
            switch url?.answer {
            case nil: seen = "something else answers there"
            case .receiver: seen = "App Store Connect has another one than \(url?.text ?? ""), where a receiver answers"
            case .status(let status): seen = "at \(url?.text ?? "") something else answers, with \(status)"
            case .tls, .silence: seen = "at \(url?.text ?? "") no receiver answers from here"
            }
            return ConnectionVerdict(
                .url,
                "Apple's post was answered with success, and nothing was stored here: \(seen), or the receiver there stores into "
                    + "another database than DATABASE_URL names")
        case .hidden, nil:
            return ConnectionVerdict(
                nil,
                "worker or url: Apple has posted it, it is not applied yet, and whether it waits is not seen from here: see whether "
                    + "workers run, storehook queue; if nothing waits there, the URL in App Store Connect is not this receiver's",
                isFault: true)
        }
    }

    /// - Parameter ofTheAnswer: see ``ofTheAnswer(_:)``.
    private static func waiting(_ post: WaitingPost, _ ofTheAnswer: String) -> ConnectionVerdict {
        let stored = "the notification was stored at \(Timestamp(post.storedAt))\(ofTheAnswer)"
        if let reason = post.lastReason {
            if reason == VerificationCode.signedInFuture.rawValue {
                return ConnectionVerdict(
                    .clock,
                    "\(stored), and by the workers' clock Apple signs in the future: let their machines keep time by NTP"
                )
            }
            return ConnectionVerdict(
                .worker, "\(stored), and workers put it off (\(reason)): see storehook queue, and their log")
        }
        if post.isAnyApplied, post.ahead > 0 {
            let most = post.ahead >= Outbox.mostCountedAhead ? "\(post.ahead) or more" : "\(post.ahead)"
            return ConnectionVerdict(
                .worker, "\(stored), and waits behind \(most) others: workers run, and are late; start more of them")
        }
        return ConnectionVerdict(
            .worker, "\(stored), and no worker takes it: start storehook work with this DATABASE_URL")
    }

    /// Why Apple was not asked, or does not answer.
    /// - Parameters:
    ///   - accepting: another environment, where Apple takes this key; nil where there is none.
    ///   - clockAhead: this machine's clock minus Apple's; nil where no answer says so.
    package init(_ failure: AppStoreFailure, takenIn accepting: Environment? = nil, clockAhead: Duration? = nil) {
        let place = failure.environment
        switch failure.reason {
        case .unauthorized:
            if let accepting {
                let why =
                    place == .production
                    ? "the app has no release yet, or this key is of another team than the released app's"
                    : "the key or the app is not known there"
                self.init(
                    .environment, "401 from \(place) while \(accepting) takes this key: \(why)",
                    isFault: place != .production)
            } else if let wrong = clockAhead.flatMap(Self.clock) {
                self = wrong
            } else {
                let agrees = clockAhead.map { _ in "this machine's clock agrees with Apple's" }
                self.init(
                    .key,
                    "401 from \(place): Apple does not take it; check issuer_id, key_id and the .p8 file, that it is an In-App Purchase "
                        + "key of the team of \(agrees == nil ? "this app, and this machine's clock" : "this app and not revoked")"
                        + (agrees.map { " (\($0))" } ?? ""))
            }
        case .unusableKey: self.init(.key, failure.message)
        case .apple(.serverNotificationURLNotFound):
            self.init(
                .url,
                "App Store Connect has none for \(place): enter the receiver's there (App Information, App Store Server Notifications, "
                    + "version 2)")
        case .apple(.appNotFound): self.init(.app, failure.message)
        case .refused(let refusal):
            self.init(
                .roots,
                "Apple's answer holds a record that is not trusted (\(refusal.code.rawValue)): \(refusal.message); see "
                    + "STOREHOOK_TRUSTED_ROOTS")
        case .rateLimited: self.init(.apple, failure.message, isFault: false)
        case .unreachable(let fault):
            self.init(
                .apple,
                "it cannot be reached from here (\(fault.rawValue)): let this machine out to Apple's servers, TCP port 443"
            )
        default: self.init(.apple, failure.message)
        }
    }

    /// The database cannot be asked, or not by this user.
    package static func noDatabase(_ error: PostgresError) -> ConnectionVerdict {
        if error.sqlState == "42501" {
            return ConnectionVerdict(
                .database,
                "this user may not look for the notification (\(error)): use a worker's or an operator's DATABASE_URL; storehook doctor "
                    + "--role worker says which right is missing, and sql/roles.sql gives it")
        }
        return ConnectionVerdict(
            .database,
            "it cannot be asked for the notification (\(error)), and a receiver answers Apple 503 while it is away")
    }
}
