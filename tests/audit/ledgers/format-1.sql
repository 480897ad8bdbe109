PRAGMA application_id = 1095978580;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE bodies (seq INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
INSERT INTO "bodies" VALUES(1,'{"after":null,"format":1,"nonce":"83c350b9f0e7b05bcb7ac799b289fd34"}');
INSERT INTO "bodies" VALUES(2,'{"public":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"}');
INSERT INTO "bodies" VALUES(3,'{"process":1}');
INSERT INTO "bodies" VALUES(4,'{"agent":"claude","code":"print(''hello'')","context":"{}","domains":[],"executable":false,"files":[],"id":"r1","image":"","isolation":"local","language":"python","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"most_bytes":0,"network":"none","offset":0,"packages":[],"received_at":1700000000.0,"sandbox":"","stdin":"","title":"Say hello","tool":"code_execute"}');
INSERT INTO "bodies" VALUES(5,'{"findings":[{"capability":"starts processes","evidence":"run(''ls'')","id":"python.subprocess","level":"HIGH","reason":"Why.","reference":"","span":{"column":0,"end_column":9,"end_line":1,"line":1}}],"level":"HIGH","reasons":["It runs code."],"touch":{"credentials":[],"files":["/tmp/a"],"hosts":["example.org"],"packages":[],"processes":[]}}');
INSERT INTO "bodies" VALUES(6,'{"blocked":"","window":60.0}');
INSERT INTO "bodies" VALUES(7,'{"after_seconds":2.5,"by":"person","digest":"0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9","reason":"Fine.","rule":"","verdict":"approved"}');
INSERT INTO "bodies" VALUES(8,'{}');
INSERT INTO "bodies" VALUES(9,'{"curve":[{"at":0.1,"cpu_percent":50.0,"disk_bytes":null,"memory_bytes":1000,"processes":2},{"at":0.2,"cpu_percent":null,"disk_bytes":null,"memory_bytes":null,"processes":null}],"duration":0.25,"error":"","exit_code":0,"files":[],"files_left_out":"","meta":{"blocked_imports":[],"dropped_stderr":0,"dropped_stdout":0,"image":"","isolation":"local","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"protections":["no network"],"runtime":"local","timed_out":false,"truncated":false,"versions":{"python":"3.11"}},"outcome":"ok","peak_memory":12345678,"stderr":"","stdout":"hello\n","value":{"answer":[42,null,1.5]}}');
INSERT INTO "bodies" VALUES(10,'{}');
INSERT INTO "bodies" VALUES(11,'{"agent":"claude","code":"print(''hello'')","context":"{}","domains":[],"executable":false,"files":[],"id":"r2","image":"","isolation":"local","language":"python","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"most_bytes":0,"network":"none","offset":0,"packages":[],"received_at":1700000000.0,"sandbox":"","stdin":"","title":"Say hello","tool":"code_execute"}');
INSERT INTO "bodies" VALUES(12,'{"findings":[{"capability":"starts processes","evidence":"run(''ls'')","id":"python.subprocess","level":"HIGH","reason":"Why.","reference":"","span":{"column":0,"end_column":9,"end_line":1,"line":1}}],"level":"CRITICAL","reasons":["It runs code."],"touch":{"credentials":[],"files":["/tmp/a"],"hosts":["example.org"],"packages":[],"processes":[]}}');
INSERT INTO "bodies" VALUES(13,'{"blocked":"","window":60.0}');
INSERT INTO "bodies" VALUES(14,'{"after_seconds":1.0,"by":"person","digest":"0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9","reason":"Not this.","rule":"","verdict":"denied"}');
INSERT INTO "bodies" VALUES(15,'{}');
INSERT INTO "bodies" VALUES(16,'{"agent":"claude","code":"print(''hello'')","context":"{}","domains":[],"executable":false,"files":[],"id":"r3","image":"","isolation":"local","language":"python","limits":{"cpu_cores":0.5,"disk_mb":1024,"memory_mb":512,"output_bytes":1048576,"processes":64,"seconds":30.0},"most_bytes":0,"network":"none","offset":0,"packages":[],"received_at":1700000000.0,"sandbox":"","stdin":"","title":"Say hello","tool":"code_execute"}');
INSERT INTO "bodies" VALUES(17,'{"findings":[{"capability":"starts processes","evidence":"run(''ls'')","id":"python.subprocess","level":"HIGH","reason":"Why.","reference":"","span":{"column":0,"end_column":9,"end_line":1,"line":1}}],"level":"HIGH","reasons":["It runs code."],"touch":{"credentials":[],"files":["/tmp/a"],"hosts":["example.org"],"packages":[],"processes":[]}}');
INSERT INTO "bodies" VALUES(18,'{"blocked":"","window":60.0}');
INSERT INTO "bodies" VALUES(19,'{"head":"e11da54a1edf81cf05f3e5d1579fa6c6f08a2a7e05ac91b5df2fa471ede9fe35","key":"03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8","seq":18,"signature":"0083c182a21bac643fc44530ff478f99031f65c38b7fc1c0aabeade848c4eb98b42ae01bbfc16262c50b54ac7ea2a0e4270d0cc52cf39f9a131aa64587bd0b0e"}');
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    request_id TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO "entries" VALUES(1,1795348938281375,'genesis','','c52210faf669c9314072ccde308c64aa8c5408b2e2b6507ddd895d81c7620e91','0000000000000000000000000000000000000000000000000000000000000000','f5bcc07ce40047210592559000ea7a6ea8aed6f1f57d50309990757f58bfd26e');
INSERT INTO "entries" VALUES(2,1795348938305273,'key','','0ba2221f13ed035338d10a19aadc8280690190586808747298800a1518e9fb89','f5bcc07ce40047210592559000ea7a6ea8aed6f1f57d50309990757f58bfd26e','42601ff1944d48e0272bf9ee3f998efef446889230e65d25b713213654e00352');
INSERT INTO "entries" VALUES(3,1795348938308674,'opened','','c654f1d4fb7fca5281ee512e3b019933ce340d830b890184c7db2035823978bd','42601ff1944d48e0272bf9ee3f998efef446889230e65d25b713213654e00352','d432086714b10268db507e1fecd09c0369d9c8d8fc1ac4df3d5df43b8322471e');
INSERT INTO "entries" VALUES(4,1795348938310702,'arrived','r1','5a09dcf27b0cc8335066c80694df1f55b1acd100add25085e039d49a86aeebcd','d432086714b10268db507e1fecd09c0369d9c8d8fc1ac4df3d5df43b8322471e','ebc8d9f1f68811609f78565d619bf9b1bd39e0651ab4dc2a952d3bbd9e70cd2c');
INSERT INTO "entries" VALUES(5,1795348938312271,'assessed','r1','7b0ebb1fcba1cf810eaca182dca17e19ead3c577a4e837ff90ec794e3da043da','ebc8d9f1f68811609f78565d619bf9b1bd39e0651ab4dc2a952d3bbd9e70cd2c','71be9ea5dd02fc843ced53fba5b1b0ff17ed59ec4559de1da03bf8dede109296');
INSERT INTO "entries" VALUES(6,1795348938314077,'asked','r1','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','71be9ea5dd02fc843ced53fba5b1b0ff17ed59ec4559de1da03bf8dede109296','9dd680884999de0b76f11d4cac5f1397af39c975d95a7d28f625cd81a7baeb9a');
INSERT INTO "entries" VALUES(7,1795348938314765,'approved','r1','797339cf4bcaab94544a8e319572ba6cbc096c476aa8db051d8cb84ffefec9a9','9dd680884999de0b76f11d4cac5f1397af39c975d95a7d28f625cd81a7baeb9a','2d0a9efa4896e53fa7bcc8c78e7e84f810485497698efd0a4d9bc49af1cce692');
INSERT INTO "entries" VALUES(8,1795348938315597,'running','r1','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','2d0a9efa4896e53fa7bcc8c78e7e84f810485497698efd0a4d9bc49af1cce692','22819b7761637f2a98b002d82240287a4b271236d4b06572520a8e9358858f87');
INSERT INTO "entries" VALUES(9,1795348938316266,'finished','r1','bf8d35ee02923dd0f015f5b68738d64a6c87b7f5ed165dcdf1ce032259303357','22819b7761637f2a98b002d82240287a4b271236d4b06572520a8e9358858f87','0dbd09ff6e3f7e7dc49f592bb04d6b9a6cb9f8c51bc29c2127deb02516683d01');
INSERT INTO "entries" VALUES(10,1795348938317760,'closed','r1','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','0dbd09ff6e3f7e7dc49f592bb04d6b9a6cb9f8c51bc29c2127deb02516683d01','619640cad18a51996b86e1d910f9c274ab1f2d7983dde1b1e02149a87f74a3af');
INSERT INTO "entries" VALUES(11,1795348938318742,'arrived','r2','ceb46a9c70bb3b78511f1606b7921e5475df6bdc12a6415c1c91dedec8c1fbce','619640cad18a51996b86e1d910f9c274ab1f2d7983dde1b1e02149a87f74a3af','a104f5d9be07a39ee966760671a55d56a39c7411eb28e3440800f3b4ae7cd82b');
INSERT INTO "entries" VALUES(12,1795348938319654,'assessed','r2','2fd4fbaa6200164cf48e83c4418425053792137d1ca62987081e8d6e11da6145','a104f5d9be07a39ee966760671a55d56a39c7411eb28e3440800f3b4ae7cd82b','b51d0f0882f63e1cbf77fb0cb89416f0362b3f3e696cf672a70a0780ebad1a07');
INSERT INTO "entries" VALUES(13,1795348938320375,'asked','r2','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','b51d0f0882f63e1cbf77fb0cb89416f0362b3f3e696cf672a70a0780ebad1a07','c56c48fcde509564b90e5ed125edfc499c30b92ba7bcc9852213087b7c830316');
INSERT INTO "entries" VALUES(14,1795348938321071,'denied','r2','a4ae83c5f17bc00b4d625cff56906872dbd28467f792574ae6f804e0be55f276','c56c48fcde509564b90e5ed125edfc499c30b92ba7bcc9852213087b7c830316','358b4f84fb947113aa77b46d2855f9502ad183c91a3bfb2a0d5edb6f0f7881ef');
INSERT INTO "entries" VALUES(15,1795348938321750,'closed','r2','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','358b4f84fb947113aa77b46d2855f9502ad183c91a3bfb2a0d5edb6f0f7881ef','039401954b63ff11cecbf329f6a6868f9b242f5f9246baec0358cba7c3442101');
INSERT INTO "entries" VALUES(16,1795348938322384,'arrived','r3','c024d267d3067c56779aaa2486d90cbd5573bc4882fca10f3942d517a2d3bff4','039401954b63ff11cecbf329f6a6868f9b242f5f9246baec0358cba7c3442101','f94c4f261711a8b6d0ec05610f5675f93513890d4613b76abc2344ba0ffa2964');
INSERT INTO "entries" VALUES(17,1795348938323117,'assessed','r3','7b0ebb1fcba1cf810eaca182dca17e19ead3c577a4e837ff90ec794e3da043da','f94c4f261711a8b6d0ec05610f5675f93513890d4613b76abc2344ba0ffa2964','7069f4f8b471c467bf521b36470aa9034c2ec0ffd44f2211c04f4f4c8d49baf8');
INSERT INTO "entries" VALUES(18,1795348938323812,'asked','r3','aae5f1594cbdf4a121ea4c3d682eae10634c058d81ddc877f9a9c31b9dd45d8d','7069f4f8b471c467bf521b36470aa9034c2ec0ffd44f2211c04f4f4c8d49baf8','e11da54a1edf81cf05f3e5d1579fa6c6f08a2a7e05ac91b5df2fa471ede9fe35');
INSERT INTO "entries" VALUES(19,1795348938328489,'sealed','','2756a05fe16be1b478b23e181dbcc01c1ba1815c000880e29f0260b63ab62ee0','e11da54a1edf81cf05f3e5d1579fa6c6f08a2a7e05ac91b5df2fa471ede9fe35','ca7002d1f65c9eeae388ecf1f4ec3fca73f2d2bfd0ed555e1a48ff72678cf447');
CREATE TABLE head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key TEXT NOT NULL,
    signature TEXT NOT NULL
) STRICT;
INSERT INTO "head" VALUES(1,19,'ca7002d1f65c9eeae388ecf1f4ec3fca73f2d2bfd0ed555e1a48ff72678cf447','03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8','2e4d84c38af166b5c598576922b19f7032a491b3cfe4d592bacd403751bcf2ec1a7323eeb1304c7bb14bc54add4df6200f27b9c7d8a508199982cc122ade9b0d');
CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    language TEXT,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    phase TEXT NOT NULL,
    arrived_at REAL NOT NULL,
    level INTEGER,
    asked_at REAL,
    verdict TEXT,
    decider TEXT,
    rule TEXT NOT NULL,
    decided_at REAL,
    waited REAL,
    started_at REAL,
    outcome TEXT,
    exit_code INTEGER,
    duration REAL,
    finished_at REAL,
    finished_seq INTEGER
) STRICT;
INSERT INTO "requests" VALUES(4,'r1','claude','code_execute','python','Say hello','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','closed',1.79534893831070208546e+09,3,1.79534893831407690043e+09,'approved','person','',1.79534893831476497654e+09,2.5,1.79534893831559705735e+09,'ok',0,0.25,1.79534893831626605987e+09,9);
INSERT INTO "requests" VALUES(11,'r2','claude','code_execute','python','Say hello','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','closed',1.79534893831874203676e+09,4,1.79534893832037496571e+09,'denied','person','',1.79534893832107090953e+09,1.0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "requests" VALUES(16,'r3','claude','code_execute','python','Say hello','0cc78edfdb256cd233cabfe6f7cad0afa663ca3d7fd9d25b65bc4b98c570dca9','asked',1.79534893832238411906e+09,3,1.7953489383238120079e+09,NULL,NULL,'',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE INDEX entries_of_request ON entries (request_id, seq) WHERE request_id <> '';
CREATE INDEX entries_of_the_house ON entries (kind, seq) WHERE request_id = '';
CREATE INDEX requests_by_agent ON requests (agent, seq);
CREATE INDEX requests_by_level ON requests (level, seq);
CREATE INDEX requests_by_verdict ON requests (verdict, seq);
CREATE INDEX requests_by_outcome ON requests (outcome, seq);
CREATE INDEX requests_open ON requests (seq) WHERE phase <> 'closed';
CREATE TRIGGER entries_in_order BEFORE INSERT ON entries
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'entries are only added at the end'); END;
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entries_remain BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
CREATE TRIGGER bodies_once BEFORE INSERT ON bodies
WHEN EXISTS (SELECT 1 FROM bodies WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'bodies are never replaced'); END;
CREATE TRIGGER bodies_stay BEFORE UPDATE ON bodies
BEGIN SELECT RAISE(ABORT, 'bodies are never changed'); END;
CREATE TRIGGER bodies_remain BEFORE DELETE ON bodies
BEGIN SELECT RAISE(ABORT, 'bodies are never removed'); END;
COMMIT;
